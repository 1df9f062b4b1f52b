/** What a provider says of one of its objects, through a group's connection or an installation. */
import { z } from 'zod';
import type { Row } from '../../database/rows.ts';
import { invalid, invalidInput, notFound } from '../../errors.ts';
import type { ObjectDescription } from '../../providers/contract.ts';
import type { Call } from '../call.ts';
import { findConnectionOfGroup } from '../connection/connection-of-group.ts';
import { getNamedIntegration, type IntegrationKey } from '../integration/integration.ts';
import { contentOf } from '../integration/integration-content.ts';
import { latestRevisions } from '../integration/revision.ts';
import { issuesOf } from '../issues.ts';
import { ref } from '../names.ts';
import { findGroupByRef } from '../project/group.ts';
import { NOT_A_PROVIDER } from '../provider/catalogue.ts';
import { refusingForProvider } from '../provider/provider-refusal.ts';
import { byId, getProject } from '../scope.ts';
import { authorize } from '../viewer/viewer.ts';
import { describeObject } from './object-descriptions.ts';

export type { FieldDescription } from '../../providers/contract.ts';
export { FIELD_VALUE_TYPES } from '../../providers/contract.ts';

export interface ObjectMetadata extends ObjectDescription {
  /** Only through an installation: the name that the integration maps the object to. */
  mappedObjectName: string | null;
}

const objectName = z.string().min(1).max(256);
export const objectMetadataInput = z.object({
  provider: z.string().min(1).max(128).describe('The provider.'),
  objectName: objectName.describe("The provider's name of the object."),
  groupRef: ref.describe('The group that is connected.'),
});

interface Options {
  excludeReadOnly?: boolean | null;
}

/** Through the connection that stands for the group. */
export async function readObjectMetadata(
  call: Call,
  args: z.output<typeof objectMetadataInput> & Options & { projectIdOrName: string },
): Promise<ObjectMetadata> {
  const { id: projectId } = await getProject(call, args.projectIdOrName, 'read');
  requireValid(objectMetadataInput, args);
  const { provider, groupRef } = args;
  if (!call.catalogue.find(provider)) {
    throw invalid('provider', NOT_A_PROVIDER, provider);
  }
  const group = await findGroupByRef(call, { projectId, groupRef });
  if (!group) throw notFound('Group', groupRef);
  const key = { projectId, provider, groupId: group.id };
  const connection = await findConnectionOfGroup(call.database.prisma, key);
  if (!connection) throw notFound(`A connection to ${provider} of the group`, groupRef);
  const description = await describe(call, connection, args.objectName);
  return { ...selected(description, args), mappedObjectName: null };
}

/** The same through the group's installation of an integration. */
export async function readInstalledObjectMetadata(
  call: Call,
  {
    groupRef,
    objectName,
    excludeReadOnly,
    ...key
  }: IntegrationKey & Options & { groupRef: string; objectName: string },
): Promise<ObjectMetadata> {
  const { id: integrationId, projectId } = await getNamedIntegration(call, key);
  const group = await findGroupByRef(call, { projectId, groupRef });
  if (!group) throw notFound('Group', groupRef);
  const where = { projectId, integrationId, groupId: group.id };
  const [installation] = await call.database.rows.find('Installation', where);
  if (!installation) throw notFound('An installation of the integration by the group', groupRef);
  return objectMetadataOfInstallation(call, { installation, objectName, excludeReadOnly });
}

/** `objectName` is the provider's, or the one that the integration maps it to. */
export async function objectMetadataOfInstallation(
  call: Call,
  { installation, ...args }: { installation: Row<'Installation'>; objectName: string } & Options,
): Promise<ObjectMetadata> {
  authorize(call.viewer, 'read');
  requireValid(z.object({ objectName }), args);
  const [revision] = await latestRevisions(call, [installation.integrationId]);
  const [connection] = await byId('Connection')(call, [installation.connectionId]);
  if (!revision || !connection) throw notFound('Installation', installation.id);
  const objects = contentOf(revision).read?.objects ?? [];
  const read =
    objects.find(({ mapToName }) => mapToName === args.objectName) ??
    objects.find((object) => object.objectName === args.objectName);
  const description = await describe(call, connection, read?.objectName ?? args.objectName);
  return { ...selected(description, args), mappedObjectName: read?.mapToName ?? null };
}

function describe(
  call: Call,
  connection: Row<'Connection'>,
  name: string,
): Promise<ObjectDescription> {
  return refusingForProvider(() =>
    describeObject({ services: call, connection, objectName: name }),
  );
}

function selected(description: ObjectDescription, { excludeReadOnly }: Options): ObjectDescription {
  if (!excludeReadOnly) return description;
  return { ...description, fields: description.fields.filter(({ readOnly }) => !readOnly) };
}

function requireValid(schema: z.ZodObject, args: object): void {
  const { error } = schema.safeParse(args);
  if (error) throw invalidInput(issuesOf(error, args));
}
