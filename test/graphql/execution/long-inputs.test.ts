/** Long inputs are read in steps, and get the same results and errors as short ones. */
import { expect, test } from 'vitest';
import { createManyObjects } from '../../faults/stall/many-objects.ts';
import { getSharedApp } from '../../support/app.ts';
import { createWriter } from '../../support/fixtures/writes.ts';

const app = await getSharedApp();

const LAST = 'integrations[48].read.objects[197]';
const ERRORS: Record<string, [member: string, graphql: string, rest: string]> = {
  '9,702 schedules, of which the last is not valid': [
    'schedule',
    'must be a cron expression of five fields.',
    'must be a cron expression of five fields.',
  ],
  '9,702 schedules, and a number in place of the last name': [
    'objectName',
    'must be a string.',
    'must be a string.',
  ],
  '9,702 schedules, and an unknown member at the end': [
    'unknown',
    'is not a member of ReadObjectSpecInput.',
    'is not a field of this request.',
  ],
};

test.each(
  createManyObjects({ projectId: '{project}' }, 'salesforce'),
)('accepts valid objects, and names the last one if it is wrong: $name', async ({
  name,
  method,
  path,
  headers,
  body,
}) => {
  const { projectId, apiKey } = await createWriter(app);
  const response = await app.fetch(path.replace('{project}', projectId), {
    ...{ method, headers: { ...headers, 'x-api-key': apiKey } },
    body: String(body).replace('{project}', projectId),
  });
  const result = await response.json();
  const [surface = '', ...words] = name.split(' ');
  const error = ERRORS[words.join(' ')];
  const isRest = surface === 'REST';
  const problem = isRest ? result : result.errors?.[0].extensions.problem;
  if (!error) {
    expect(response.status).toBe(200);
    const integrations = isRest ? result : result.data.upsertIntegrations.integrations;
    expect(integrations).toHaveLength(words[0] === '9,504' ? 1 : 49);
    return;
  }
  const [member, inGraphql, inRest] = error;
  const issueName = `${isRest ? '' : 'input.'}${LAST}.${member}`;
  expect(problem.issues).toEqual([
    expect.objectContaining({ name: issueName, detail: isRest ? inRest : inGraphql }),
  ]);
});
