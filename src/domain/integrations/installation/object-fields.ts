/** Creates or updates fields that a builder needs in its customers' accounts. */

import { z } from 'zod';
import type { Row } from '../../../database/statements/tables.ts';
import { invalid, unprocessable } from '../../../kernel/errors.ts';
import type { Provider } from '../../../providers/contract.ts';
import type { DefineFieldsCapability, FieldOutcome } from '../../../providers/defining-fields.ts';
import type { Call } from '../../access/call.ts';
import { describeMissingProvider, NOT_A_PROVIDER } from '../../access/catalog.ts';
import { projectMutation } from '../../access/declared-mutation.ts';
import { requireNoIssues } from '../../base/issues.ts';
import { projectIdOrName, ref } from '../../base/names.ts';
import { enumeration, jsonObject, resource } from '../../base/resource.ts';
import { openProviderSession } from '../../connections/connection/connection-session.ts';
import { forgetDescription } from '../../connections/provider/object-descriptions.ts';
import { withDomainErrors } from '../../connections/provider/provider-domain-errors.ts';
import { waitForProvider } from '../../connections/provider/provider-wait.ts';
import { integrationIdOrName } from '../integration/integration.ts';
import type { IntegrationContent } from '../integration/integration-content.ts';
import { listDefinitionIssues, type ObjectFields, objectsToDefine } from './field-definition.ts';
import { getConnectionAndContent, getInstallationOfGroup } from './installation.ts';
import { getConnectionOfGroup } from './object-metadata.ts';

const upsertObjectMetadataInput = z
  .object({
    projectIdOrName,
    provider: z.string().min(1).max(128).describe('The name of the provider.'),
    groupRef: ref.describe('The ref of a group with a connection to the provider.'),
    objects: objectsToDefine,
  })
  .meta({
    id: 'UpsertObjectMetadataInput',
    description:
      "The fields to define, by the provider's names, and the group that owns the account.",
  });

const upsertInstalledObjectMetadataInput = z
  .object({
    projectIdOrName,
    integrationIdOrName,
    groupRef: ref.describe('The ref of the group that has the installation.'),
    objects: objectsToDefine,
  })
  .meta({
    id: 'UpsertInstalledObjectMetadataInput',
    description:
      "The fields to define, and the group that owns the account. Objects may have the integration's names.",
  });

/** The outcome of each definition, in the order of the input. */
export interface DefinedObject {
  objectName: string;
  fields: (FieldOutcome & { fieldName: string })[];
}

const fieldAction = enumeration('FieldAction', 'The change that was applied to a field.', {
  CREATE: 'It was created.',
  UPDATE: 'It was updated.',
  NONE: 'It was not changed: it is already as defined, or the provider refused the change.',
} satisfies Record<FieldOutcome['action'], string>);

export const fieldUpsertResource = resource(
  'FieldUpsert',
  'The outcome of one definition of a field.',
  {
    fieldName: z.string().describe("The provider's name of the field."),
    action: fieldAction.describe('Whether it was created, updated or left unchanged.'),
    error: z
      .string()
      .nullable()
      .describe(
        'The human-readable reason why the field is not as defined. Null if it is as defined.',
      ),
    warnings: z
      .array(z.string())
      .describe('Human-readable notes about a field that is as defined.'),
    metadata: jsonObject
      .nullable()
      .describe('The field as the provider describes it. {Null} if it does not exist.'),
  },
);

export const objectUpsertResource = resource(
  'ObjectUpsert',
  'The outcomes of the definitions of fields of one object.',
  {
    objectName: z.string().describe("The provider's name of the object."),
    fields: z
      .array(fieldUpsertResource)
      .describe('One outcome for each definition, in the order of the input.'),
  },
);

/** True if every field is as defined. */
export function areDefined(objects: readonly DefinedObject[]): boolean {
  return objects.every(({ fields }) => fields.every(({ error }) => error === null));
}

const UPSERT_NOTE =
  "In Salesforce, a permission set makes the fields visible to the connection's user. HubSpot puts them into a separate property group. An interrupted call can be repeated: existing fields are kept.";

/** Defines fields through the group's default connection. If the provider refuses a field, other fields are still defined. */
export const upsertObjectMetadata = projectMutation({
  description: `Creates fields in a customer's account, or updates them to match their definitions. ${UPSERT_NOTE}`,
  needs: 'records:write',
  input: upsertObjectMetadataInput,
  async run(
    call,
    { provider: name, objects, groupRef },
    { id: projectId },
  ): Promise<DefinedObject[]> {
    const provider = call.catalog.find(name);
    if (!provider) throw invalid(['provider'], NOT_A_PROVIDER, name);
    const defineFields = getDefineFields(provider);
    requireNoIssues(listDefinitionIssues(objects, { ...provider, defineFields }));
    const connection = await getConnectionOfGroup(call, { projectId, provider: name, groupRef });
    const account = { connection, provider, defineFields, module: null };
    return defineObjects(call, account, objects);
  },
});

/** Defines fields through the group's installation of an integration. Otherwise equal to `upsertObjectMetadata`. */
export const upsertInstalledObjectMetadata = projectMutation({
  description: `Creates or updates fields in the account of a group's installation. ${UPSERT_NOTE}`,
  needs: 'records:write',
  input: upsertInstalledObjectMetadataInput,
  async run(call, input): Promise<DefinedObject[]> {
    const { objects } = input;
    const installation = await getInstallationOfGroup(call, input);
    const { connection, content } = await getConnectionAndContent(call, installation);
    const { module } = content;
    const provider = call.catalog.findWithModule(content.provider, module);
    if (!provider) throw unprocessable(describeMissingProvider(content.provider));
    const defineFields = getDefineFields(provider);
    requireNoIssues(listDefinitionIssues(objects, { ...provider, defineFields }));
    const account = { connection, provider, defineFields, module };
    return defineObjects(call, account, resolveMappedNames(objects, content));
  },
});

function getDefineFields({ displayName, capabilities }: Provider): DefineFieldsCapability {
  if (capabilities.defineFields) return capabilities.defineFields;
  throw unprocessable(`The gateway can't define fields of ${displayName}.`);
}

/** Replaces the integration's names of objects with the provider's. Other names stay as they are. */
function resolveMappedNames(
  objects: ObjectFields[],
  { read, write }: IntegrationContent,
): ObjectFields[] {
  const contentObjects = [...(read?.objects ?? []), ...(write?.objects ?? [])];
  const providerNames = new Set(contentObjects.map(({ objectName }) => objectName));
  const namesByMappedName = new Map(
    read?.objects.map(({ mapToName, objectName }) => [mapToName, objectName]),
  );
  return objects.map((object) => {
    const { objectName } = object;
    if (providerNames.has(objectName)) return object;
    return { ...object, objectName: namesByMappedName.get(objectName) ?? objectName };
  });
}

interface Account {
  connection: Row<'Connection'>;
  provider: Provider;
  /** The module of the integration. Null without an integration. */
  module: string | null;
  defineFields: DefineFieldsCapability;
}

async function defineObjects(
  call: Call,
  { connection, provider, module, defineFields }: Account,
  objects: ObjectFields[],
): Promise<DefinedObject[]> {
  const { id: connectionId, projectId } = connection;
  return waitForProvider(call, { projectId, connectionId }, async () => {
    const session = openProviderSession(call, connection, provider);
    const definedObjects: DefinedObject[] = [];
    for (const definitions of objects) {
      const { objectName, fields } = definitions;
      const outcomes = await withDomainErrors(() =>
        defineFields.define(session, definitions),
      ).finally(() => forgetDescription(call, { connection, module, objectName }));
      const definedFields = outcomes.map((outcome, index) => ({
        ...outcome,
        fieldName: fields[index]!.fieldName,
      }));
      definedObjects.push({ objectName, fields: definedFields });
    }
    return definedObjects;
  });
}
