/** Making connections from credentials: one for each project, provider, group and consumer. */
import type { z } from 'zod';
import type { Row } from '../../database/rows.ts';
import type { Issue } from '../../errors.ts';
import type { Call } from '../call.ts';
import { openProjectMutation } from '../declared-mutation.ts';
import { issueAt } from '../issues.ts';
import { NOT_A_PROVIDER } from '../provider/catalogue.ts';
import { findGiven } from '../provider/provider.ts';
import { workspaceIssues } from '../provider/provider-workspace.ts';
import { orEndUser } from '../viewer/needs.ts';
import { generateConnectionInput } from './connection-input.ts';
import { putConnection } from './connection-putting.ts';
import { type Choice, chooseScheme } from './connection-scheme.ts';
import { listForeignParties } from './own-ends.ts';
import { givenWorkspace } from './session/account-address.ts';
import { inputIssues } from './session/connect-inputs.ts';
import { withCheckedCredentials } from './session/credential-check.ts';

type Given = z.input<typeof generateConnectionInput>;

/** Connects with credentials that the caller has. */
export const generateConnection = openProjectMutation({
  needs: orEndUser('connections:write', 'CONNECT'),
  input: generateConnectionInput,
  async run(call, opened, { id: projectId }): Promise<Row<'Connection'>> {
    opened.add(await listForeignParties(call, opened.given));
    if (call.viewer.kind === 'END_USER') opened.parsed();
    const { scheme, issues } = await findScheme(call, projectId, opened.given);
    const input = opened.parsed(issues);
    if (scheme === null) throw new Error('Why no scheme fits was not told.');
    return withCheckedCredentials(call, await putConnection(call, { projectId, scheme, input }));
  },
});

/** The scheme that fits, and what does not fit the provider or the project. */
async function findScheme(call: Call, projectId: string, input: Given): Promise<Choice> {
  const ofApp = await appIssues(call, projectId, input);
  const provider = await findGiven(call, input.provider);
  if (!provider) {
    const unknown = issueAt(['input', 'provider'], NOT_A_PROVIDER, input.provider);
    return { scheme: null, issues: [unknown, ...ofApp] };
  }
  const { scheme, issues } = chooseScheme(provider, input);
  const ofWorkspace = workspaceIssues(provider, givenWorkspace(input));
  return { scheme, issues: [...ofWorkspace, ...inputIssues(provider, input), ...issues, ...ofApp] };
}
async function appIssues(
  { database }: Call,
  projectId: string,
  { providerAppId, provider }: Given,
): Promise<Issue[]> {
  if (providerAppId == null) return [];
  const [app] = await database.rows.find('ProviderApp', { projectId, id: providerAppId });
  if (app?.provider === provider) return [];
  const detail = app ? `is an app of ${app.provider}, not of ${provider}.` : 'does not exist.';
  return [{ in: 'body', name: 'input.providerAppId', detail, value: providerAppId }];
}
