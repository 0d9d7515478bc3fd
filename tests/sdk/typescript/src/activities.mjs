// The activities of the sample. They run in plain Node, so they may do whatever Node can.
import { activityInfo } from '@temporalio/activity';

export async function greet(name) {
  const { attempt } = activityInfo();
  if (attempt < 2) {
    throw new Error(`greeting ${name} fails on attempt ${attempt}, so that the retry policy has something to do`);
  }
  return `Hello, ${name}! (attempt ${attempt})`;
}
