/** Reads descriptions of providers' objects through a cache. */
import type { Row } from '../../../database/statements/tables.ts';
import { unprocessable } from '../../../kernel/errors.ts';
import type { ObjectDescription } from '../../../providers/contract.ts';
import { toModuleKey } from '../../../providers/modules.ts';
import type { ProjectServices, ProviderServices } from '../../access/call.ts';
import { inProject } from '../../access/catalog.ts';
import { openProviderSession } from '../connection/connection-session.ts';

export interface DescriptionRequest {
  services: ProviderServices;
  connection: Row<'Connection'>;
  /** The module of the integration. Null without an integration. */
  module: string | null;
  /** The provider's own name of the object. */
  objectName: string;
}

/** Throws ProviderError, and UNPROCESSABLE if the provider describes no objects. */
export async function describeObject(request: DescriptionRequest): Promise<ObjectDescription> {
  const { services, objectName } = request;
  const { objectDescriptions } = services.providerAccess;
  const description = await objectDescriptions.fetch(createKey(request), {
    context: () => fetchDescription(request),
  });
  if (!description) throw new Error(`Bug: no description of ${objectName} was fetched.`);
  return description;
}

/** Removes a description. Must run after this process changed the object. Other processes keep their copy for a minute. */
export function forgetDescription(
  { providerAccess }: ProviderServices,
  target: Omit<DescriptionRequest, 'services'>,
): void {
  providerAccess.objectDescriptions.delete(createKey(target));
}

/** Creates a cache key. It includes the update time, because a changed connection may lead to another account. */
function createKey({
  connection,
  module,
  objectName,
}: Omit<DescriptionRequest, 'services'>): string {
  return JSON.stringify([connection.id, connection.updateTime, module, objectName]);
}

async function fetchDescription(request: DescriptionRequest): Promise<ObjectDescription> {
  const { services, connection, module, objectName } = request;
  const projectServices = await inProject(services, connection.projectId);
  const provider = projectServices.catalog.findWithModule(connection.provider, module);
  const describe = provider?.capabilities.describeObject;
  if (!describe) throw unprocessable(`${connection.provider} does not describe its objects.`);
  const description = await describe(
    openProviderSession(services, connection, provider),
    objectName,
  );
  learnFields(projectServices, { connection, module, objectName }, description);
  return description;
}

interface LearnedObject extends Pick<DescriptionRequest, 'module' | 'objectName'> {
  connection: Pick<Row<'Connection'>, 'projectId' | 'provider'>;
}

/** Stores the types of the fields for contracts, in the background. */
export function learnFields(
  { catalog, fieldLearner }: Pick<ProjectServices, 'catalog' | 'fieldLearner'>,
  { connection, module, objectName }: LearnedObject,
  description: ObjectDescription,
): void {
  const provider = catalog.find(connection.provider);
  if (!provider) return;
  fieldLearner.learn(
    {
      projectId: connection.projectId,
      provider: connection.provider,
      module: toModuleKey(provider, module),
      objectName,
    },
    description,
  );
}
