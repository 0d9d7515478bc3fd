// Runs one worker and one client in this process and prints what they saw as one line of JSON.
// Usage: node src/hello.mjs HOST:PORT TASK_QUEUE
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import * as activities from './activities.mjs';

const [address, taskQueue] = process.argv.slice(2);
if (!address || !taskQueue) {
  console.error('usage: node src/hello.mjs HOST:PORT TASK_QUEUE');
  process.exit(2);
}

async function greetOnce(client) {
  const handle = await client.workflow.start('hello', { args: ['Ada'], taskQueue, workflowId: `${taskQueue}-hello` });
  let seen = await handle.query('greeting');
  while (!seen.startsWith('Hello')) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    seen = await handle.query('greeting');
  }
  await handle.signal('release');
  const result = await handle.result();
  const { status, type, historyLength } = await handle.describe();
  return { seen, result, status: status.name, type, historyLength };
}

Runtime.install({ logger: new DefaultLogger('ERROR') });
const workerConnection = await NativeConnection.connect({ address });
const connection = await Connection.connect({ address });
try {
  const worker = await Worker.create({
    activities,
    connection: workerConnection,
    taskQueue,
    workflowsPath: fileURLToPath(new URL('./workflows.js', import.meta.url)),
  });
  const report = await worker.runUntil(greetOnce(new Client({ connection })));
  console.log(JSON.stringify(report));
} finally {
  await connection.close();
  await workerConnection.close();
}
