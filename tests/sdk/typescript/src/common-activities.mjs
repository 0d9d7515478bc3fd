// The activities of the common scenarios.
import { activityInfo, ApplicationFailure, heartbeat, sleep } from '@temporalio/activity';

export async function greet(name) {
  return `Hello, ${name}!`;
}

export async function greetOnThirdAttempt(name) {
  const { attempt } = activityInfo();
  if (attempt < 3) {
    throw ApplicationFailure.retryable(`attempt ${attempt} fails`, 'NotYet');
  }
  return `Hello, ${name}, on attempt ${attempt}!`;
}

export async function failForever(message) {
  throw ApplicationFailure.nonRetryable(message, 'Hopeless');
}

export async function audit(amount) {
  return amount;
}

export async function heartbeatUntilCancelled() {
  for (;;) {
    heartbeat();
    await sleep('50 milliseconds'); // throws the cancellation when it comes
  }
}
