// The workflows of the common scenarios, in TypeScript's SDK. Names and behaviour are those of the workers in the other
// languages: ../../common/python_workflows.py and ../../go/workflows.go.
import {
  ActivityCancellationType,
  ApplicationFailure,
  CancellationScope,
  ChildWorkflowCancellationType,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  executeChild,
  isCancellation,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  sleep,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';

const patience = {
  startToCloseTimeout: '20 seconds',
  retry: { initialInterval: '50 milliseconds', backoffCoefficient: 1, maximumAttempts: 5 },
};
const { greet, greetOnThirdAttempt, failForever, audit } = proxyActivities(patience);
const local = proxyLocalActivities(patience);
const { heartbeatUntilCancelled } = proxyActivities({
  startToCloseTimeout: '1 minute',
  heartbeatTimeout: '5 seconds',
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

const finish = defineSignal('finish');
const tell = defineSignal('tell');

export async function OneActivity(name) {
  return await greet(name);
}

export async function RetriedActivity(name) {
  return await greetOnThirdAttempt(name);
}

export async function FailingActivity(message) {
  return await failForever(message);
}

export async function LocalActivities(name) {
  return [await local.greet(name), await local.greetOnThirdAttempt(name)];
}

export async function Conversation() {
  const heard = [];
  let done = false;
  setHandler(defineSignal('say'), (text) => void heard.push(text));
  setHandler(finish, () => void (done = true));
  setHandler(defineQuery('heard'), () => heard);
  setHandler(defineQuery('heardFirst'), (count) => heard.slice(0, count));
  setHandler(defineQuery('broken'), () => {
    throw ApplicationFailure.create({ message: 'this query always fails' });
  });
  await condition(() => done);
  return heard;
}

export async function Nap(milliseconds) {
  await sleep(milliseconds);
  return 'awake';
}

export async function Account(opening) {
  let balance = opening;
  let done = false;
  setHandler(defineUpdate('deposit'), (amount) => (balance += amount), {
    validator: (amount) => {
      if (amount <= 0) {
        throw ApplicationFailure.create({ message: 'an amount must be positive' });
      }
    },
  });
  setHandler(defineUpdate('depositAfterAudit'), async (amount) => {
    balance += await audit(amount);
    return balance;
  });
  setHandler(defineUpdate('withdraw'), (amount) => {
    if (amount > balance) {
      throw ApplicationFailure.create({ message: `only ${balance} there`, type: 'Overdrawn' });
    }
    return (balance -= amount);
  });
  setHandler(defineQuery('balance'), () => balance);
  setHandler(finish, () => void (done = true));
  await condition(() => done);
  return balance;
}

function childId() {
  return `${workflowInfo().workflowId}-child`;
}

export async function Parent(name) {
  return await executeChild(Child, { args: [name], workflowId: childId() });
}

export async function Child(name) {
  return `${name}, child of ${workflowInfo().parent?.workflowId ?? 'nobody'}`;
}

export async function ParentOfFailure(message) {
  try {
    await executeChild(FailingChild, { args: [message], workflowId: childId() });
  } catch (error) {
    return error.cause?.type ?? 'no type';
  }
  return 'no failure';
}

export async function FailingChild(message) {
  throw ApplicationFailure.create({ message, type: 'Hopeless' });
}

export async function SignallingParent(text) {
  const child = await startChild(Listener, { workflowId: childId() });
  await child.signal(tell, text);
  return await child.result();
}

export async function Listener() {
  let told;
  setHandler(tell, (text) => void (told = text));
  await condition(() => told !== undefined);
  return told;
}

export async function CancelledParent() {
  await executeChild(Sleeper, {
    workflowId: childId(),
    cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
  });
}

export async function Sleeper() {
  await condition(() => false);
}

export async function Countdown(left, runs) {
  if (left > 0) {
    await continueAsNew(left - 1, runs + 1);
  }
  return runs;
}

export async function CleaningUp() {
  let state = 'waiting';
  setHandler(defineQuery('state'), () => state);
  try {
    await condition(() => false);
  } catch (error) {
    await CancellationScope.nonCancellable(() => greet('broom'));
    state = 'clean';
    throw error;
  }
}

export async function CancelledTimer() {
  try {
    await sleep('1 hour');
  } catch (error) {
    if (isCancellation(error)) {
      return 'woken';
    }
    throw error;
  }
  return 'slept';
}

export async function CancelledActivity() {
  try {
    await heartbeatUntilCancelled();
  } catch (error) {
    if (isCancellation(error)) {
      return 'the activity was cancelled';
    }
    throw error;
  }
  return 'the activity completed';
}
