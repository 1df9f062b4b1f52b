/** Session tokens: short-lived tokens of end users, which the builder's backend passes to its pages. */
import { z } from 'zod';
import type { Row } from '../../../database/statements/tables.ts';
import { type Issue, invalidInput } from '../../../kernel/errors.ts';
import { findPrefix } from '../../../kernel/ids.ts';
import type { RowServices } from '../../access/call.ts';
import { projectMutation } from '../../access/declared-mutation.ts';
import { CONNECT_PATH, listReturnIssues } from '../../access/origins.ts';
import { upsertParties } from '../../access/upsert-parties.ts';
import {
  DEFAULT_PERMISSIONS,
  listScopesToGrant,
  SCOPE_BY_PERMISSION,
  sessionPermission,
} from '../../access/viewer/end-user.ts';
import { authorizeGrant } from '../../access/viewer/needs.ts';
import { signSessionToken } from '../../access/viewer/token/session-token-claims.ts';
import { createInputIssue } from '../../base/issues.ts';
import { projectIdOrName, ref } from '../../base/names.ts';
import { resource } from '../../base/resource.ts';

const INTEGRATIONS_MAX = 100;
const LIFETIME_SECONDS = 600;
const LIFETIME_SECONDS_MIN = 60;
const LIFETIME_SECONDS_MAX = 3_600;

export const sessionTokenResource = resource(
  'SessionToken',
  'The token of one end user. Only this response contains it.',
  {
    token: z
      .string()
      .describe(
        'The token. Pages send it as `Authorization: Bearer`. Keep it out of URLs, which are logged.',
      ),
    expireTime: z.date().describe('When the token expires.'),
    connectUrl: z
      .string()
      .describe('The URL of the hosted page on which this user connects and chooses.'),
  },
);

const createSessionTokenInput = z
  .object({
    projectIdOrName,
    groupRef: ref.describe(
      "The builder's own id of the end user's group, 1 to 256 characters. Its first use creates the group.",
    ),
    groupName: ref
      .nullish()
      .describe(
        'The display name of the group, 1 to 256 characters. Default: the current name, or the ref of a new group.',
      ),
    consumerRef: ref.describe(
      "The builder's own id of the end user, 1 to 256 characters. Its first use creates the consumer.",
    ),
    consumerName: ref
      .nullish()
      .describe(
        'The display name of the consumer, 1 to 256 characters. Default: the current name, or the ref of a new consumer.',
      ),
    integrations: z
      .array(z.string().min(1).max(128))
      .max(INTEGRATIONS_MAX)
      .nullish()
      .describe(
        'The integrations that the end user may see and install, by id or name, at most 100. Default: all integrations of the project.',
      ),
    permissions: z
      .array(sessionPermission)
      .max(Object.keys(SCOPE_BY_PERMISSION).length)
      .nullish()
      .describe(
        'The permissions of the end user, in addition to reading. The caller must have them itself. Default: CONNECT, INSTALL and READ.',
      ),
    expiresInSeconds: z
      .int()
      .min(LIFETIME_SECONDS_MIN)
      .max(LIFETIME_SECONDS_MAX)
      .nullish()
      .describe('The lifetime of the token in seconds, 60 to 3600. Default: 600.'),
    returnUrl: z
      .url({ protocol: /^https?$/ })
      .max(2_048)
      .nullish()
      .describe(
        'The URL that the connect page returns to. Its origin must be in `Project.allowedOrigins`, or in REDIRECT_ORIGINS of the server. Default: the page stays open.',
      ),
  })
  .meta({
    id: 'CreateSessionTokenInput',
    description: 'The end user of the token, and its permissions.',
  });

type Input = z.output<typeof createSessionTokenInput>;

export type SessionToken = z.output<typeof sessionTokenResource>;

/**
 * A token never permits more than its creator may do. Creates the group and the consumer if they do not exist.
 */
export const createSessionToken = projectMutation({
  description:
    'Creates a token for one end user: a group and a consumer. The token can read the data of its group, and do what its permissions allow.',
  needs: 'connections:write',
  input: createSessionTokenInput,
  async run(call, input, project): Promise<SessionToken> {
    const permissions = [...new Set(input.permissions ?? DEFAULT_PERMISSIONS)];
    authorizeGrant(call.viewer, listScopesToGrant(permissions));
    const { ids, issues } = await findIntegrations(call, project, input);
    const allIssues = [...issues, ...listReturnIssues(call, project, input.returnUrl, 'returnUrl')];
    if (allIssues.length > 0) throw invalidInput(allIssues);
    const parties = await upsertParties(call, { ...input, projectId: project.id });
    const lifetimeMs = (input.expiresInSeconds ?? LIFETIME_SECONDS) * 1_000;
    const expireTime = new Date(Math.floor((call.now().getTime() + lifetimeMs) / 1_000) * 1_000);
    const token = await signSessionToken(call, {
      projectId: project.id,
      ...parties,
      integrationIds: ids,
      permissions,
      expireTime,
      returnUrl: input.returnUrl ?? null,
    });
    // Browsers do not send the fragment, so that no log contains the token.
    return { token, expireTime, connectUrl: `${call.publicUrl()}${CONNECT_PATH}#token=${token}` };
  },
});

/** Finds the integrations of the input. `ids` is null for all integrations of the project, including future ones. */
async function findIntegrations(
  { database }: RowServices,
  { id: projectId }: Row<'Project'>,
  { integrations }: Input,
): Promise<{ ids: string[] | null; issues: Issue[] }> {
  if (integrations == null) return { ids: null, issues: [] };
  const isId = (text: string) => findPrefix(text) === 'int';
  const requestedIds = integrations.filter(isId);
  const requestedNames = integrations.filter((text) => !isId(text));
  const [rowsById, rowsByName] = await Promise.all([
    database.reads.find('Integration', { projectId, id: requestedIds }),
    database.reads.find('Integration', { projectId, name: requestedNames }),
  ]);
  const idsByIdOrName = new Map([
    ...rowsById.map(({ id }) => [id, id] as const),
    ...rowsByName.map(({ id, name }) => [name, id] as const),
  ]);
  const issues = integrations.flatMap((idOrName, index) => {
    if (idsByIdOrName.has(idOrName)) return [];
    const path = ['integrations', index];
    return createInputIssue(path, 'is not an integration of the project.', idOrName);
  });
  return { ids: [...new Set(idsByIdOrName.values())], issues };
}
