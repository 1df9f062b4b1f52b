/** Creates or updates fields that a builder needs in its customers' accounts. */
import { z } from 'zod';
import type { Row } from '../../database/rows.ts';
import { invalid, notFound, unprocessable } from '../../errors.ts';
import type { Provider } from '../../providers/contract.ts';
import type { DefineFieldsCapability, FieldOutcome } from '../../providers/defining-fields.ts';
import type { Call } from '../call.ts';
import { openSession } from '../connection/connection-session.ts';
import { projectMutation } from '../declared-mutation.ts';
import { integrationIdOrName } from '../integration/integration.ts';
import {
  type IntegrationContent,
  readIntegrationContent,
} from '../integration/integration-content.ts';
import { findLatestRevisions } from '../integration/revision.ts';
import { requireNoIssues } from '../issues.ts';
import { projectIdOrName, ref } from '../names.ts';
import { NOT_A_PROVIDER } from '../provider/catalogue.ts';
import { withDomainErrors } from '../provider/provider-domain-errors.ts';
import { waitForProvider } from '../provider/provider-wait.ts';
import { enumeration, jsonObject, resource } from '../resource.ts';
import { byId } from '../scope.ts';
import { listDefinitionIssues, type ObjectFields, objectsToDefine } from './field-definition.ts';
import { getInstallationOfGroup } from './installation.ts';
import { forgetDescription } from './object-descriptions.ts';
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
      "The fields, and the group in whose account they are to be: by the provider's names.",
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
      "The fields, and the group in whose account they are to be. Objects may have the integration's names.",
  });

/** The outcome of each definition, in the order of the input. */
export interface DefinedObject {
  objectName: string;
  fields: (FieldOutcome & { fieldName: string })[];
}

const fieldAction = enumeration('FieldAction', 'The change that was applied to a field.', {
  CREATE: 'It was created.',
  UPDATE: 'It was updated.',
  NONE: 'No change: it is as defined already, or the provider refused.',
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
      .describe('The field as the provider describes it. Null if it does not exist.'),
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

const HOW =
  "Salesforce makes the fields visible to the connection's user by a permission set. HubSpot puts them into a property group of their own. A call that was interrupted can be repeated: existing fields are kept.";

/** Defines fields through the group's default connection. Other fields are defined even if the provider rejects one. */
export const upsertObjectMetadata = projectMutation({
  description: `Creates fields in a customer's account, or updates them to match their definitions. ${HOW}`,
  needs: 'records:write',
  input: upsertObjectMetadataInput,
  async run(
    call,
    { provider: name, objects, groupRef },
    { id: projectId },
  ): Promise<DefinedObject[]> {
    const provider = call.catalogue.find(name);
    if (!provider) throw invalid('input.provider', NOT_A_PROVIDER, name);
    const define = getFieldDefiner(provider);
    requireNoIssues(listDefinitionIssues(objects, { ...provider, define }));
    const connection = await getConnectionOfGroup(call, { projectId, provider: name, groupRef });
    const account = { connection, provider, define, module: null };
    return defineAll(call, account, objects);
  },
});

/** Defines fields as upsertObjectMetadata does, through the group's installation of an integration. */
export const upsertInstalledObjectMetadata = projectMutation({
  description: `Creates or updates fields in the account of a group's installation. ${HOW}`,
  needs: 'records:write',
  input: upsertInstalledObjectMetadataInput,
  async run(call, input): Promise<DefinedObject[]> {
    const { objects } = input;
    const installation = await getInstallationOfGroup(call, input);
    const [revision] = await findLatestRevisions(call, [installation.integrationId]);
    const [connection] = await byId('Connection')(call, [installation.connectionId]);
    if (!revision || !connection) throw notFound('Installation', installation.id);
    const content = readIntegrationContent(revision);
    const { module } = content;
    const provider = call.catalogue.findAt(content.provider, module);
    if (!provider) throw unprocessable(`${content.provider} is not a provider any more.`);
    const define = getFieldDefiner(provider);
    requireNoIssues(listDefinitionIssues(objects, { ...provider, define }));
    const account = { connection, provider, define, module };
    return defineAll(call, account, toProviderNames(objects, content));
  },
});

function getFieldDefiner({ displayName, capabilities }: Provider): DefineFieldsCapability {
  if (capabilities.defineFields) return capabilities.defineFields;
  throw unprocessable(`${displayName} does not support fields that are defined from outside.`);
}

function toProviderNames(
  objects: ObjectFields[],
  { read, write }: IntegrationContent,
): ObjectFields[] {
  const existingObjects = [...(read?.objects ?? []), ...(write?.objects ?? [])];
  const objectNamesByMappedName = new Map(
    read?.objects.map((object) => [object.mapToName, object.objectName]),
  );
  return objects.map((object) => {
    const isOwn = existingObjects.some(({ objectName }) => objectName === object.objectName);
    return isOwn
      ? object
      : {
          ...object,
          objectName: objectNamesByMappedName.get(object.objectName) ?? object.objectName,
        };
  });
}

interface Account {
  connection: Row<'Connection'>;
  provider: Provider;
  /** The module of the integration. Null without an integration. */
  module: string | null;
  define: DefineFieldsCapability;
}

async function defineAll(
  call: Call,
  { connection, provider, module, define }: Account,
  objects: ObjectFields[],
): Promise<DefinedObject[]> {
  const { id: connectionId, projectId } = connection;
  return waitForProvider(call, { projectId, connectionId }, async () => {
    const session = openSession(call, connection, provider);
    const defined: DefinedObject[] = [];
    for (const definitions of objects) {
      const { objectName, fields } = definitions;
      const outcomes = await withDomainErrors(() => define.define(session, definitions)).finally(
        () => forgetDescription(call, { connection, module, objectName }),
      );
      const named = outcomes.map((outcome, index) => ({
        ...outcome,
        fieldName: fields[index]!.fieldName,
      }));
      defined.push({ objectName, fields: named });
    }
    return defined;
  });
}
