/** Reads the provider's description of one of its objects, through a group's connection or an installation. */
import { z } from 'zod';
import type { Row } from '../../../database/statements/tables.ts';
import { invalid, notFound } from '../../../kernel/errors.ts';
import type { ObjectDescription } from '../../../providers/contract.ts';
import { resolveObjectName } from '../../../providers/object-support.ts';
import type { Call } from '../../access/call.ts';
import { findProviderOf, NOT_A_PROVIDER } from '../../access/catalog.ts';
import { providerRead } from '../../access/declared-read.ts';
import { getProjectOfInput } from '../../access/input-project.ts';
import { orEndUser } from '../../access/viewer/needs.ts';
import { orDefault } from '../../base/input-schemas.ts';
import { projectIdOrName, ref } from '../../base/names.ts';
import { resource } from '../../base/resource.ts';
import { findConnectionOfGroup } from '../../connections/connection/connection-of-group.ts';
import {
  type DescriptionRequest,
  describeObject,
} from '../../connections/provider/object-descriptions.ts';
import { withDomainErrors } from '../../connections/provider/provider-domain-errors.ts';
import { waitForProvider } from '../../connections/provider/provider-wait.ts';
import { findGroupByRef } from '../../tenants/project/parties.ts';
import { integrationIdOrName } from '../integration/integration.ts';
import { getConnectionAndContent, getInstallationOfGroup } from './installation.ts';
import { fieldMetadataResource } from './shown-field.ts';

export type { FieldDescription } from '../../../providers/contract.ts';

export interface ObjectMetadata extends ObjectDescription {
  /** The name to which the integration maps the object. Null outside an installation. */
  mappedObjectName: string | null;
}

export const objectMetadataResource = resource(
  'ObjectMetadata',
  'The fields of an object at a provider, as the provider describes them now.',
  {
    name: z.string().describe("The provider's name of the object, like `contacts`."),
    displayName: z.string().nullable().describe('The name that people see.'),
    mappedObjectName: z
      .string()
      .nullable()
      .describe(
        'The name that the integration maps the object to. {Null} without an installation or a mapping.',
      ),
    fields: z.array(fieldMetadataResource).describe('The fields of the object.'),
  },
);

const objectName = z.string().min(1).max(256);
const providerObjectName = objectName.describe(
  "The provider's name of the object, like `contacts`.",
);
const groupRef = ref.describe('The ref of a group with a connection to the provider.');
const excludeReadOnly = orDefault(z.boolean(), false).describe(
  "If true, omits fields that can't be written. Default: false.",
);

export const objectMetadataInput = z.object({
  projectIdOrName,
  provider: z.string().min(1).max(128).describe('The name of the provider.'),
  objectName: providerObjectName,
  groupRef,
  excludeReadOnly,
});

export const installedObjectMetadataInput = z.object({
  projectIdOrName,
  integrationIdOrName,
  objectName: providerObjectName,
  groupRef,
  excludeReadOnly,
});

/** Options for an installation that has already been read. */
export const metadataOptions = z.object({
  objectName: objectName.describe("The object's mapped name, or its name at the provider."),
  excludeReadOnly,
});
type Options = z.output<typeof metadataOptions>;

/** Reads the description through the group's default connection. */
export const readObjectMetadata = providerRead(
  orEndUser('read'),
  "Reads the fields of a provider's object through a connection of the group.",
  async (call: Call, input: z.output<typeof objectMetadataInput>): Promise<ObjectMetadata> => {
    const { provider } = input;
    const { id: projectId } = await getProjectOfInput(call, input);
    if (!(await findProviderOf(call, { projectId, provider }))) {
      throw invalid(['provider'], NOT_A_PROVIDER, provider);
    }
    const connection = await getConnectionOfGroup(call, { ...input, projectId });
    const target = { connection, module: null, objectName: input.objectName };
    const description = await fetchDescription(call, target);
    return { ...selectFields(description, input), mappedObjectName: null };
  },
);

/** Throws NOT_FOUND if the group does not exist or has no connection to the provider. */
export async function getConnectionOfGroup(
  call: Call,
  key: { projectId: string; provider: string; groupRef: string },
): Promise<Row<'Connection'>> {
  const { projectId, provider } = key;
  const group = await findGroupByRef(call, key);
  if (!group) throw notFound('Group', key.groupRef);
  const connection = await findConnectionOfGroup(call.database.prisma, {
    projectId,
    provider,
    groupId: group.id,
  });
  if (!connection) throw notFound(`A connection to ${provider} of the group`, key.groupRef);
  return connection;
}

/** Reads the description through the group's installation of an integration. */
export const readInstalledObjectMetadata = providerRead(
  orEndUser('read'),
  "Reads the fields of a provider's object through a group's installation.",
  async (
    call: Call,
    input: z.output<typeof installedObjectMetadataInput>,
  ): Promise<ObjectMetadata> => {
    const installation = await getInstallationOfGroup(call, input);
    return readMetadataOfInstallation(call, installation, input);
  },
);

/** Reads the description of an object by the provider's name, or by the name to which the integration maps it. */
export const readMetadataOfInstallation = providerRead(
  orEndUser('read'),
  "Reads the fields of a provider's object through the connection of the installation.",
  async (
    call: Call,
    installation: Row<'Installation'>,
    options: Options,
  ): Promise<ObjectMetadata> => {
    const { connection, content } = await getConnectionAndContent(call, installation);
    const objects = content.read?.objects ?? [];
    const object =
      objects.find(({ mapToName }) => mapToName === options.objectName) ??
      objects.find(({ objectName }) => objectName === options.objectName);
    const description = await fetchDescription(call, {
      connection,
      module: content.module,
      objectName: object?.objectName ?? options.objectName,
    });
    return { ...selectFields(description, options), mappedObjectName: object?.mapToName ?? null };
  },
);

/** Fetches the description of an object by the provider's name or an alias. */
async function fetchDescription(
  call: Call,
  target: Omit<DescriptionRequest, 'services'>,
): Promise<ObjectDescription> {
  const { connection, module } = target;
  const catalog = await call.catalogs.getOfProject(connection.projectId);
  const provider = catalog.findWithModule(connection.provider, module);
  const objectName = resolveObjectName(provider, target.objectName);
  const account = { projectId: connection.projectId, connectionId: connection.id };
  return waitForProvider(call, account, () =>
    withDomainErrors(() => describeObject({ services: call, connection, module, objectName })),
  );
}

function selectFields(
  description: ObjectDescription,
  options: Pick<Options, 'excludeReadOnly'>,
): ObjectDescription {
  if (!options.excludeReadOnly) return description;
  return { ...description, fields: description.fields.filter(({ readOnly }) => !readOnly) };
}
