// The TypeScript worker of the common scenarios: node src/common-worker.mjs HOST:PORT TASK_QUEUE
// It says `ready` on standard output when its workflows are bundled, and ends at SIGTERM, as the workers in the other
// languages do.
import { fileURLToPath } from 'node:url';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import * as activities from './common-activities.mjs';

const [address, taskQueue] = process.argv.slice(2);
if (!address || !taskQueue) {
  console.error('usage: node src/common-worker.mjs HOST:PORT TASK_QUEUE');
  process.exit(2);
}

// Without a logger of its own the SDK logs to standard error, and `ready` must be the first line of standard output.
Runtime.install({ logger: new DefaultLogger('WARN'), shutdownSignals: ['SIGTERM'] });
const connection = await NativeConnection.connect({ address });
try {
  const worker = await Worker.create({
    activities,
    connection,
    taskQueue,
    workflowsPath: fileURLToPath(new URL('./common-workflows.js', import.meta.url)),
  });
  console.log('ready');
  await worker.run();
} finally {
  await connection.close();
}
