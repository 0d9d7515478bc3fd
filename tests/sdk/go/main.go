// The Go worker of the common scenarios: worker HOST:PORT TASK_QUEUE
//
// It says "ready" on standard output when it polls, and ends at SIGTERM, as the workers in the other languages do.
package main

import (
	"fmt"
	"log/slog"
	"os"

	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: worker HOST:PORT TASK_QUEUE")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(address, taskQueue string) error {
	warnings := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	connection, err := client.Dial(client.Options{HostPort: address, Logger: sdklog.NewStructuredLogger(warnings)})
	if err != nil {
		return err
	}
	defer connection.Close()
	polling := worker.New(connection, taskQueue, worker.Options{})
	register(polling)
	if err := polling.Start(); err != nil {
		return err
	}
	fmt.Println("ready")
	<-worker.InterruptCh()
	polling.Stop()
	return nil
}
