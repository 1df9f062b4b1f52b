/** Gets a revision with the provider's descriptions of its objects in one connection's account. */
import { z } from 'zod';
import type { Row } from '../../../database/statements/tables.ts';
import { DomainError, invalid } from '../../../kernel/errors.ts';
import { id } from '../../../kernel/ids.ts';
import type { ObjectDescription } from '../../../providers/contract.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import type { Call } from '../../access/call.ts';
import { read } from '../../access/declared-read.ts';
import { getProjectRow } from '../../access/scope.ts';
import { orEndUser } from '../../access/viewer/needs.ts';
import { projectIdOrName } from '../../base/names.ts';
import {
  type DescriptionRequest,
  describeObject,
} from '../../connections/provider/object-descriptions.ts';
import { toDomainError } from '../../connections/provider/provider-domain-errors.ts';
import { waitForProvider } from '../../connections/provider/provider-wait.ts';
import { integrationIdOrName } from './integration.ts';
import { type IntegrationContent, readIntegrationContent } from './integration-content.ts';
import { getRevision } from './revision.ts';

/** The description of an object in the account, or the reason why there is none. */
export type HydratedObject = ObjectDescription | { error: string };

export interface HydratedRevision {
  revision: Row<'Revision'>;
  /** All objects that the revision reads or writes, by the provider's names. */
  objects: ReadonlyMap<string, HydratedObject>;
}

export const hydratedRevisionInput = z.object({
  projectIdOrName,
  integrationIdOrName,
  revisionId: id.describe('The id of the revision.'),
  connectionId: id.describe("The id of a connection to the integration's provider."),
});

/** Throws BAD_USER_INPUT if the connection has another provider than the integration. */
export const getHydratedRevision = read(
  orEndUser('read'),
  'Gets a revision with the names and fields that the account of a connection has.',
  async (
    call: Call,
    { connectionId, ...revisionKey }: z.output<typeof hydratedRevisionInput>,
  ): Promise<HydratedRevision> => {
    const revision = await getRevision(call, revisionKey);
    const { projectId } = revision;
    const key = { projectId, id: connectionId, noun: 'Connection' };
    const connection = await getProjectRow(call, 'Connection', key);
    const content = readIntegrationContent(revision);
    if (connection.provider !== content.provider) {
      const detail = `is a connection to ${connection.provider}, not to ${content.provider}.`;
      throw invalid(['connectionId'], detail, connectionId);
    }
    return { revision, objects: await describeObjects(call, connection, content) };
  },
);

/**
 * Describes the objects that a content reads or writes, by the provider's names. All descriptions together count as one
 * wait for the provider.
 */
export async function describeObjects(
  call: Call,
  connection: Row<'Connection'>,
  content: IntegrationContent,
): Promise<HydratedRevision['objects']> {
  const account = { projectId: connection.projectId, connectionId: connection.id };
  const { module } = content;
  return waitForProvider(call, account, async () => {
    const entries = listObjectNames(content).map(
      async (objectName) =>
        [objectName, await hydrateObject(call, { connection, module, objectName })] as const,
    );
    return new Map(await Promise.all(entries));
  });
}

function listObjectNames(content: IntegrationContent): string[] {
  const objects = [...(content.read?.objects ?? []), ...(content.write?.objects ?? [])];
  return [...new Set(objects.map(({ objectName }) => objectName))];
}

/** Returns an error for an object that can't be described, so that the other objects are still shown. */
async function hydrateObject(
  call: Call,
  target: Omit<DescriptionRequest, 'services'>,
): Promise<HydratedObject> {
  try {
    return await describeObject({ services: call, ...target });
  } catch (error) {
    if (error instanceof ProviderError) return { error: toDomainError(error).message };
    if (error instanceof DomainError && error.code === 'UNPROCESSABLE') {
      return { error: error.message };
    }
    throw error;
  }
}
