/**
 * Loads what a read needs: its read plan, connection and provider. Each time slice loads them again, so that changes
 * take effect.
 */

import type { Row } from '../../../../database/statements/tables.ts';
import { notFound, unprocessable } from '../../../../kernel/errors.ts';
import type { ReadTiming } from '../../../../providers/behavior.ts';
import type { Provider, ReadCapability } from '../../../../providers/contract.ts';
import type { RecordPage } from '../../../../providers/moving-records.ts';
import { requireShallow } from '../../../../providers/read-responses.ts';
import type { ProjectServices, ProviderServices, Services } from '../../../access/call.ts';
import { describeMissingProvider, inProject } from '../../../access/catalog.ts';
import { describeObject } from '../../../connections/provider/object-descriptions.ts';
import { readConfigContent } from '../../../integrations/installation/installation-config.ts';
import { findContent, findLatestContent } from '../../../integrations/integration/content-cache.ts';
import { createObjectNames } from '../../../integrations/integration/delivered-object-names.ts';
import type { MessageHead } from './read-message.ts';
import { computeReadTiming, createReadPlan, type ReadPlan } from './read-plan.ts';

export interface ReadSource {
  readPlan: ReadPlan;
  connection: Row<'Connection'>;
  provider: Provider;
  /** The module of the integration. Null if it has none. */
  module: string | null;
  readPage: ReadCapability['readPage'];
  timing: ReadTiming;
  head: Omit<MessageHead, 'operationId' | 'operationTime' | 'readType'>;
}

/** The page of a read that needs no request, because no record can match. */
export const NO_RECORDS: RecordPage = { records: [], nextCursor: null, estimatedTotal: null };

type InstallationKey = Pick<Row<'Installation'>, 'id' | 'projectId'>;

/** Throws NOT_FOUND without the installation, and UNPROCESSABLE with the reason if the object can't be read. */
export async function getReadSource(
  services: ProviderServices,
  key: InstallationKey,
  objectName: string,
): Promise<ReadSource> {
  const projectServices = await inProject(services, key.projectId);
  const content = await getInstallationContent(services, key);
  return createReadSource(projectServices, content, objectName);
}

/** Throws UNPROCESSABLE with the reason if the object can't be read. */
export function createReadSource(
  { catalog }: Pick<ProjectServices, 'catalog'>,
  installationContent: InstallationContent,
  objectName: string,
): ReadSource {
  const { installation, content, config } = installationContent;
  const spec = content.read?.objects.find((object) => object.objectName === objectName);
  const choice = config.read.find((object) => object.objectName === objectName);
  if (!spec) throw unprocessable(`The integration's latest revision does not read ${objectName}.`);
  if (!choice) throw unprocessable(`The installation's config does not read ${objectName}.`);
  if (choice.disabled) throw unprocessable(`The installation's config disables ${objectName}.`);
  const provider = catalog.findWithModule(content.provider, content.module);
  if (!provider) throw unprocessable(describeMissingProvider(content.provider));
  const readAnyPage = provider.capabilities.readPage;
  if (!readAnyPage) throw unprocessable(`${provider.displayName} does not support reads.`);
  const readPlan = createReadPlan(spec, choice, provider.limits);
  const readPage: ReadCapability['readPage'] = async (session, read) => {
    const page = await readAnyPage(session, read);
    return { ...page, records: requireShallow(page.records) };
  };
  const { consumer: _consumer, ...connection } = installation.connection;
  const head = {
    action: 'read',
    ...createInstallationHead(installationContent, readPlan),
  } as const;
  const timing = computeReadTiming(provider, objectName);
  return { readPlan, connection, provider, module: content.module, readPage, timing, head };
}

/** Adds every current field of the account to the read plan, if it reads all fields. */
export async function withAllFields(
  services: ProviderServices,
  { readPlan, connection, module }: Pick<ReadSource, 'readPlan' | 'connection' | 'module'>,
): Promise<ReadPlan> {
  if (!readPlan.readsAll) return readPlan;
  const { objectName, fields } = readPlan;
  const description = await describeObject({ services, connection, module, objectName });
  const names = description.fields.map(({ fieldName }) => fieldName);
  return { ...readPlan, fields: [...new Set([...fields, ...names])] };
}

/** Creates the members of a message that describe the installation. */
export function createInstallationHead(
  { installation, content }: InstallationContent,
  { objectName, deliveredName }: Pick<ReadPlan, 'objectName' | 'deliveredName'>,
) {
  const { group, connection } = installation;
  const { consumer, providerWorkspaceRef: workspace } = connection;
  return {
    projectId: installation.projectId,
    provider: content.provider,
    groupRef: group.groupRef,
    groupName: group.groupName,
    installationId: installation.id,
    installationUpdateTime: (installation.updateTime ?? installation.createTime).toISOString(),
    consumerRef: consumer.consumerRef,
    consumerName: consumer.consumerName,
    ...(workspace !== null && { workspace }),
    objectName: deliveredName,
    ...createObjectNames(objectName, deliveredName),
  };
}

export type InstallationContent = NonNullable<Awaited<ReturnType<typeof findInstallationContent>>>;

/** Throws NOT_FOUND without the installation. */
export async function getInstallationContent(
  services: Pick<Services, 'database'>,
  key: InstallationKey,
): Promise<InstallationContent> {
  const installationContent = await findInstallationContent(services, key);
  if (!installationContent) throw notFound('Installation', key.id);
  return installationContent;
}

/** Finds an installation with the rows that reads and writes need. Null if it does not exist. */
export async function findInstallationContent(
  { database }: Pick<Services, 'database'>,
  { projectId, id }: InstallationKey,
) {
  const installation = await database.prisma.installation.findUnique({
    where: { projectId_id: { projectId, id } },
    include: {
      group: true,
      integration: true,
      connection: { include: { consumer: true }, omit: { credentialsSealed: true } },
    },
  });
  if (!installation) return null;
  const { configId, integration } = installation;
  const [config, content] = await Promise.all([
    findContent(database, 'InstallationConfig', { projectId, id: configId }),
    findLatestContent(database, integration),
  ]);
  // A config or revision is deleted only together with the rows that refer to it.
  return config && content && { installation, content, config: readConfigContent(config) };
}
