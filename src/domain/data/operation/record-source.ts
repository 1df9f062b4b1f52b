/** Loads the source of an object's current records, and converts errors of requests to its provider. */

import { invalid, unprocessable } from '../../../kernel/errors.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import type { Call } from '../../access/call.ts';
import { inProject } from '../../access/catalog.ts';
import { isConsentPending } from '../../connections/connection/token/pending-consent.ts';
import { AWAITS_CONSENT } from '../../connections/connection/token/token.ts';
import { toDomainError } from '../../connections/provider/provider-domain-errors.ts';
import { waitForProvider } from '../../connections/provider/provider-wait.ts';
import { describeUnmappedNames, findProviderName } from './read/read-plan.ts';
import {
  createReadSource,
  type InstallationContent,
  type ReadSource,
  withAllFields,
} from './read/read-source.ts';

/**
 * Returns the source of an object's records. `name` is the object's mapped name or its name at the provider. Throws
 * BAD_USER_INPUT for an unknown object, and UNPROCESSABLE with the reason if it can't be read.
 */
export async function getRecordSource(
  call: Call,
  installationContent: InstallationContent,
  name: string,
): Promise<ReadSource> {
  const projectCall = await inProject(call, installationContent.installation.projectId);
  const providerName = findProviderName(projectCall, installationContent.content, name);
  if (providerName === null) {
    throw invalid(['objectName'], 'is not an object that the integration reads.', name);
  }
  const source = createReadSource(projectCall, installationContent, providerName);
  if (source.readPlan.unmappedNames.length > 0)
    throw unprocessable(describeUnmappedNames(source.readPlan));
  if (await isConsentPending(call, source.connection)) throw unprocessable(AWAITS_CONSENT);
  const readPlan = await callProvider(call, source, () => withAllFields(call, source));
  return { ...source, readPlan };
}

/** Runs work that waits for the provider, and converts its ProviderErrors to DomainErrors. */
export function callProvider<T>(
  call: Call,
  { connection: { id: connectionId, projectId } }: ReadSource,
  work: () => Promise<T>,
): Promise<T> {
  return waitForProvider(call, { projectId, connectionId }, async () => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error;
      if (error.kind !== 'CURSOR_GONE') throw toDomainError(error);
      throw invalid(['after'], 'has expired at the provider. Omit it to start over.');
    }
  });
}
