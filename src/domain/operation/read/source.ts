/** What a read works with, as it is now: a new revision or config is in force from the next pages on. */
import type { Row } from '../../../database/rows.ts';
import { notFound, unprocessable } from '../../../errors.ts';
import type { Capabilities } from '../../../providers/contract.ts';
import type { Services } from '../../call.ts';
import { configOf } from '../../installation/installation-config.ts';
import { contentOf } from '../../integration/integration-content.ts';
import type { MessageHead } from './read-message.ts';
import { type ReadPlan, readPlan } from './read-plan.ts';

export interface ReadSource {
  plan: ReadPlan;
  connection: Row<'Connection'>;
  readPage: NonNullable<Capabilities['readPage']>;
  head: Omit<MessageHead, 'operationId' | 'operationTime' | 'readType'>;
}

type InstallationKey = Pick<Row<'Installation'>, 'id' | 'projectId'>;

/** Throws NOT_FOUND or UNPROCESSABLE that says why the object can't be read. */
export async function getReadSource(
  services: Services,
  key: InstallationKey,
  objectName: string,
): Promise<ReadSource> {
  const found = await findInstallation(services, key);
  if (!found) throw notFound('Installation', key.id);
  const { installation, content, config } = found;
  const spec = content.read?.objects.find((object) => object.objectName === objectName);
  const choice = config.read.find((object) => object.objectName === objectName);
  if (!spec) throw unprocessable(`The integration's latest revision does not read ${objectName}.`);
  if (!choice) throw unprocessable(`The installation's config does not read ${objectName}.`);
  if (choice.disabled) throw unprocessable(`The installation's config disables ${objectName}.`);
  const provider = services.catalogue.find(content.provider);
  const readPage = provider?.capabilities.readPage;
  if (!provider || !readPage) {
    throw unprocessable(`${provider?.displayName ?? content.provider} can not be read from.`);
  }
  const plan = readPlan(spec, choice, provider.limits);
  const { consumer, ...connection } = installation.connection;
  const { group } = installation;
  const workspace = connection.providerWorkspaceRef;
  return {
    plan,
    connection,
    readPage,
    head: {
      action: 'read',
      projectId: key.projectId,
      provider: provider.name,
      groupRef: group.groupRef,
      groupName: group.groupName,
      installationId: key.id,
      installationUpdateTime: (installation.updateTime ?? installation.createTime).toISOString(),
      consumerRef: consumer.consumerRef,
      consumerName: consumer.consumerName,
      ...(workspace !== null && { workspace }),
      objectName: plan.deliveredName,
      rawObjectName: objectName,
    },
  };
}

async function findInstallation({ database: { prisma } }: Services, key: InstallationKey) {
  const { projectId, id } = key;
  const installation = await prisma.installation.findUnique({
    where: { projectId_id: { projectId, id } },
    include: {
      group: true,
      integration: true,
      connection: { include: { consumer: true }, omit: { credentialsSealed: true } },
    },
  });
  if (!installation) return null;
  const { configId, integration } = installation;
  const config = await prisma.installationConfig.findUnique({ where: { id: configId } });
  const revision = await prisma.revision.findUnique({
    where: { id: integration.latestRevisionId },
  });
  // They go only together with what names them.
  return config && revision
    ? { installation, content: contentOf(revision), config: configOf(config) }
    : null;
}
