package main

import (
	"context"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
)

func greet(_ context.Context, name string) (string, error) {
	return fmt.Sprintf("Hello, %s!", name), nil
}

func greetOnThirdAttempt(ctx context.Context, name string) (string, error) {
	attempt := activity.GetInfo(ctx).Attempt
	if attempt < 3 {
		return "", temporal.NewApplicationError(fmt.Sprintf("attempt %d fails", attempt), "NotYet")
	}
	return fmt.Sprintf("Hello, %s, on attempt %d!", name, attempt), nil
}

func failForever(_ context.Context, message string) (string, error) {
	return "", temporal.NewNonRetryableApplicationError(message, "Hopeless", nil)
}

func audit(_ context.Context, amount int) (int, error) {
	return amount, nil
}

func heartbeatUntilCancelled(ctx context.Context) error {
	for {
		activity.RecordHeartbeat(ctx)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func registerActivities(registry worker.Registry) {
	for name, function := range map[string]any{
		"greet":                   greet,
		"greetOnThirdAttempt":     greetOnThirdAttempt,
		"failForever":             failForever,
		"audit":                   audit,
		"heartbeatUntilCancelled": heartbeatUntilCancelled,
	} {
		registry.RegisterActivityWithOptions(function, activity.RegisterOptions{Name: name})
	}
}
