package main

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// The workflows of the common scenarios. Names and behaviour are those of the workers in the other languages:
// ../common/python_workflows.py and ../typescript/src/common-workflows.js.

func register(registry worker.Registry) {
	for _, function := range []any{
		OneActivity, RetriedActivity, FailingActivity, LocalActivities,
		Conversation, Nap, Account,
		Parent, Child, ParentOfFailure, FailingChild, SignallingParent, Listener, CancelledParent, Sleeper,
		Countdown, CleaningUp, CancelledTimer, CancelledActivity,
	} {
		registry.RegisterWorkflow(function)
	}
	registerActivities(registry)
}

const short = 20 * time.Second

var quickRetries = &temporal.RetryPolicy{
	InitialInterval:    50 * time.Millisecond,
	BackoffCoefficient: 1,
	MaximumAttempts:    5,
}

func patient(ctx workflow.Context) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: short,
		RetryPolicy:         quickRetries,
	})
}

func call(ctx workflow.Context, activity string, argument any) (result string, err error) {
	err = workflow.ExecuteActivity(patient(ctx), activity, argument).Get(ctx, &result)
	return result, err
}

func OneActivity(ctx workflow.Context, name string) (string, error) {
	return call(ctx, "greet", name)
}

func RetriedActivity(ctx workflow.Context, name string) (string, error) {
	return call(ctx, "greetOnThirdAttempt", name)
}

func FailingActivity(ctx workflow.Context, message string) (string, error) {
	return call(ctx, "failForever", message)
}

func LocalActivities(ctx workflow.Context, name string) ([]string, error) {
	ctx = workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: short,
		RetryPolicy:         quickRetries,
	})
	var first, second string
	if err := workflow.ExecuteLocalActivity(ctx, greet, name).Get(ctx, &first); err != nil {
		return nil, err
	}
	if err := workflow.ExecuteLocalActivity(ctx, greetOnThirdAttempt, name).Get(ctx, &second); err != nil {
		return nil, err
	}
	return []string{first, second}, nil
}

func Conversation(ctx workflow.Context) ([]string, error) {
	heard := []string{}
	queries := map[string]any{
		"heard":      func() ([]string, error) { return heard, nil },
		"heardFirst": func(count int) ([]string, error) { return heard[:min(count, len(heard))], nil },
		"broken":     func() (string, error) { return "", errors.New("this query always fails") },
	}
	for _, name := range workflow.DeterministicKeys(queries) {
		if err := workflow.SetQueryHandler(ctx, name, queries[name]); err != nil {
			return nil, err
		}
	}
	done := false
	selector := workflow.NewSelector(ctx)
	selector.AddReceive(workflow.GetSignalChannel(ctx, "say"), func(channel workflow.ReceiveChannel, _ bool) {
		var text string
		channel.Receive(ctx, &text)
		heard = append(heard, text)
	})
	selector.AddReceive(workflow.GetSignalChannel(ctx, "finish"), func(channel workflow.ReceiveChannel, _ bool) {
		channel.Receive(ctx, nil)
		done = true
	})
	// What was said before the end was asked for is heard first: the selector looks at its cases in their order.
	for !done || selector.HasPending() {
		selector.Select(ctx)
	}
	return heard, nil
}

func Nap(ctx workflow.Context, milliseconds int) (string, error) {
	err := workflow.Sleep(ctx, time.Duration(milliseconds)*time.Millisecond)
	return "awake", err
}

func Account(ctx workflow.Context, balance int) (int, error) {
	positive := workflow.UpdateHandlerOptions{Validator: func(amount int) error {
		if amount <= 0 {
			return errors.New("an amount must be positive")
		}
		return nil
	}}
	deposit := func(_ workflow.Context, amount int) (int, error) {
		balance += amount
		return balance, nil
	}
	depositAfterAudit := func(ctx workflow.Context, amount int) (int, error) {
		var audited int
		if err := workflow.ExecuteActivity(patient(ctx), "audit", amount).Get(ctx, &audited); err != nil {
			return 0, err
		}
		balance += audited
		return balance, nil
	}
	withdraw := func(_ workflow.Context, amount int) (int, error) {
		if amount > balance {
			return 0, temporal.NewApplicationError(fmt.Sprintf("only %d there", balance), "Overdrawn")
		}
		balance -= amount
		return balance, nil
	}
	err := errors.Join(
		workflow.SetUpdateHandlerWithOptions(ctx, "deposit", deposit, positive),
		workflow.SetUpdateHandler(ctx, "depositAfterAudit", depositAfterAudit),
		workflow.SetUpdateHandler(ctx, "withdraw", withdraw),
		workflow.SetQueryHandler(ctx, "balance", func() (int, error) { return balance, nil }),
	)
	if err != nil {
		return 0, err
	}
	workflow.GetSignalChannel(ctx, "finish").Receive(ctx, nil)
	return balance, nil
}

func withChild(ctx workflow.Context) workflow.Context {
	return workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID:          workflow.GetInfo(ctx).WorkflowExecution.ID + "-child",
		WaitForCancellation: true,
	})
}

func Parent(ctx workflow.Context, name string) (result string, err error) {
	err = workflow.ExecuteChildWorkflow(withChild(ctx), Child, name).Get(ctx, &result)
	return result, err
}

func Child(ctx workflow.Context, name string) (string, error) {
	parent := "nobody"
	if execution := workflow.GetInfo(ctx).ParentWorkflowExecution; execution != nil {
		parent = execution.ID
	}
	return fmt.Sprintf("%s, child of %s", name, parent), nil
}

func ParentOfFailure(ctx workflow.Context, message string) (string, error) {
	err := workflow.ExecuteChildWorkflow(withChild(ctx), FailingChild, message).Get(ctx, nil)
	var failed *temporal.ChildWorkflowExecutionError
	var cause *temporal.ApplicationError
	if !errors.As(err, &failed) || !errors.As(err, &cause) {
		return "no failure", nil
	}
	return cause.Type(), nil
}

func FailingChild(_ workflow.Context, message string) error {
	return temporal.NewApplicationError(message, "Hopeless")
}

func SignallingParent(ctx workflow.Context, text string) (result string, err error) {
	child := workflow.ExecuteChildWorkflow(withChild(ctx), Listener)
	if err := child.SignalChildWorkflow(ctx, "tell", text).Get(ctx, nil); err != nil {
		return "", err
	}
	err = child.Get(ctx, &result)
	return result, err
}

func Listener(ctx workflow.Context) (text string, err error) {
	workflow.GetSignalChannel(ctx, "tell").Receive(ctx, &text)
	return text, nil
}

func CancelledParent(ctx workflow.Context) error {
	return workflow.ExecuteChildWorkflow(withChild(ctx), Sleeper).Get(ctx, nil)
}

func Sleeper(ctx workflow.Context) error {
	return workflow.Await(ctx, func() bool { return false })
}

func Countdown(ctx workflow.Context, left, runs int) (int, error) {
	if left > 0 {
		return 0, workflow.NewContinueAsNewError(ctx, Countdown, left-1, runs+1)
	}
	return runs, nil
}

func CleaningUp(ctx workflow.Context) error {
	state := "waiting"
	if err := workflow.SetQueryHandler(ctx, "state", func() (string, error) { return state, nil }); err != nil {
		return err
	}
	cancelled := workflow.Await(ctx, func() bool { return false })
	undisturbed, _ := workflow.NewDisconnectedContext(ctx)
	if _, err := call(undisturbed, "greet", "broom"); err != nil {
		return err
	}
	state = "clean"
	return cancelled
}

func CancelledTimer(ctx workflow.Context) (string, error) {
	err := workflow.Sleep(ctx, time.Hour)
	if temporal.IsCanceledError(err) {
		return "woken", nil
	}
	return "slept", err
}

func CancelledActivity(ctx workflow.Context) (string, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: time.Minute,
		HeartbeatTimeout:    5 * time.Second,
		WaitForCancellation: true,
	})
	err := workflow.ExecuteActivity(ctx, "heartbeatUntilCancelled").Get(ctx, nil)
	if temporal.IsCanceledError(err) {
		return "the activity was cancelled", nil
	}
	return "the activity completed", err
}
