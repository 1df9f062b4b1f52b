/** Starts a new consent for an existing connection, which keeps its group, consumer, app and scheme. */
import { z } from 'zod';
import { DomainError, describeIssue, notFound, unprocessable } from '../../../kernel/errors.ts';
import { joinTexts, type Path, text } from '../../../kernel/text.ts';
import { isConsentScheme } from '../../../providers/contract.ts';
import { load } from '../../access/batched.ts';
import type { Call } from '../../access/call.ts';
import { projectMutation } from '../../access/declared-mutation.ts';
import { byId, getProjectRow, type Row } from '../../access/scope.ts';
import { orEndUser } from '../../access/viewer/needs.ts';
import { nameScheme } from '../provider/provider.ts';
import { refreshConnectionInput, startOAuthConnectInput } from './connection-input.ts';
import { refuseOtherConsumers } from './end-user-parties.ts';
import { beginOAuthFlow, type OAuthFlowInput, type StartedOAuthFlow } from './oauth-connect.ts';

const startOAuthUpdateInput = z
  .object({
    ...refreshConnectionInput.shape,
    scopes: startOAuthConnectInput.shape.scopes,
    returnUrl: startOAuthConnectInput.shape.redirectUrl,
  })
  .meta({
    id: 'StartOAuthUpdateInput',
    description: 'The connection for which the person consents again in a browser.',
  });

/** Throws UNPROCESSABLE if the scheme of the connection has no consent page. */
export const startOAuthUpdate = projectMutation({
  description:
    'Starts a new consent in a browser for an existing connection, and returns the link to open there. When the person has consented in that browser, the callback renews the connection.',
  needs: orEndUser('connections:write', 'CONNECT'),
  input: startOAuthUpdateInput,
  async run(
    call,
    { connectionId, scopes, returnUrl },
    { id: projectId },
  ): Promise<StartedOAuthFlow> {
    const key = { projectId, id: connectionId, noun: 'Connection' };
    const connection = await getProjectRow(call, 'Connection', key);
    refuseOtherConsumers(call, connection, 'consent again');
    const { authScheme } = connection;
    if (!isConsentScheme(authScheme)) {
      throw unprocessable(
        text`A connection with the scheme ${nameScheme(authScheme)} has no consent page. Only OAuth connections that people authorize in a browser have one.`,
      );
    }
    const parties = await getPartyRefs(call, connection);
    const overrides = { scopes, redirectUrl: returnUrl };
    const input = { ...pickAccount(connection), ...parties, ...overrides, authScheme };
    return beginOAuthFlow(call, projectId, input).catch((error: unknown) => {
      throw convertError(error, Object.keys(overrides));
    });
  },
});

async function getPartyRefs(call: Call, { id, groupId, consumerId }: Row<'Connection'>) {
  const [group, consumer] = await Promise.all([
    load(call, byId('Group'), groupId),
    load(call, byId('Consumer'), consumerId),
  ]);
  if (!group || !consumer) throw notFound('Connection', id);
  return { groupRef: group.groupRef, consumerRef: consumer.consumerRef };
}

function pickAccount(connection: Row<'Connection'>) {
  const { provider, providerAppId, providerWorkspaceRef, providerMetadata } = connection;
  return {
    provider,
    providerAppId,
    providerWorkspaceRef,
    providerMetadata: providerMetadata as OAuthFlowInput['providerMetadata'],
  };
}

/**
 * Converts an error of `beginOAuthFlow`. If an issue is not with the caller's input but with the connection or its app, the
 * error becomes UNPROCESSABLE.
 */
function convertError(error: unknown, overrides: readonly string[]): unknown {
  if (!(error instanceof DomainError) || !error.issues) return error;
  if (error.issues.every(({ path: [member] }) => overrides.includes(String(member)))) {
    return error.move(toUpdatePath);
  }
  return unprocessable(joinTexts(error.issues.map(describeIssue), ' '));
}

function toUpdatePath(path: Path): Path {
  const [member, ...inner] = path;
  return member === 'redirectUrl' ? ['returnUrl', ...inner] : path;
}
