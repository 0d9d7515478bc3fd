// The workflow of the sample. It is bundled and replayed by the SDK, so it must be deterministic: no clock, no I/O.
// The file ends in .js, not .mjs, because that is what the SDK's bundler looks for.
import { condition, defineQuery, defineSignal, proxyActivities, setHandler, sleep } from '@temporalio/workflow';

const { greet } = proxyActivities({
  startToCloseTimeout: '10 seconds',
  retry: { initialInterval: '50 milliseconds', maximumAttempts: 3 },
});

export const release = defineSignal('release');
export const greeting = defineQuery('greeting');

export async function hello(name) {
  let text = 'not greeted yet';
  let released = false;
  setHandler(release, () => void (released = true));
  setHandler(greeting, () => text);
  text = await greet(name);
  await sleep('100 milliseconds');
  await condition(() => released);
  return text;
}
