/** Describes objects from their properties, schema and pipelines. */
import type { z } from 'zod';
import type {
  FieldDescription,
  FieldValueType,
  ObjectDescription,
  ProviderSession,
} from '../contract.ts';
import type { ProviderErrorKind } from '../provider-error.ts';
import { isSuccess, parseResponse } from '../read-responses.ts';
import { createFailure, requireSuccess } from './failure.ts';
import { paths } from './paths.ts';
import { type Property, pipelinesResponse, propertiesResponse, schemaResponse } from './wire.ts';

/** Properties whose options are the stages of the pipelines. */
const STAGE_PROPERTIES = new Set(['dealstage', 'hs_pipeline_stage']);

export async function describeObject(
  session: ProviderSession,
  objectName: string,
): Promise<ObjectDescription> {
  const response = await session.send({ method: 'GET', path: paths.properties(objectName) });
  const { results } = parseResponse(propertiesResponse, requireSuccess(response), 'READ');
  const [schema, stages] = await Promise.all([
    findPart(session, paths.schema(objectName), schemaResponse),
    results.some(({ name }) => STAGE_PROPERTIES.has(name))
      ? findPart(session, paths.pipelines(objectName), pipelinesResponse)
      : null,
  ]);
  const requiredNames = new Set(schema?.requiredProperties);
  return {
    name: objectName,
    displayName: schema?.labels?.plural ?? null,
    fields: results.map((property) => ({
      ...describeProperty(addStages(property, stages)),
      isRequired: requiredNames.has(property.name),
    })),
  };
}

/** Errors that mean that the connection has no access to a part of the description, which is then omitted. */
const INVISIBLE_KINDS = new Set<ProviderErrorKind>(['FORBIDDEN', 'MISSING_OBJECT', 'BAD_REQUEST']);

async function findPart<Schema extends z.ZodType>(
  session: ProviderSession,
  path: string,
  schema: Schema,
): Promise<z.output<Schema> | null> {
  const response = await session.send({ method: 'GET', path });
  if (isSuccess(response)) return parseResponse(schema, response, 'READ');
  const error = createFailure(response, 'READ');
  if (INVISIBLE_KINDS.has(error.kind)) return null;
  throw error;
}

function addStages(
  property: Property,
  pipelines: z.infer<typeof pipelinesResponse> | null,
): Property {
  if (!pipelines || !STAGE_PROPERTIES.has(property.name)) return property;
  const stages = pipelines.results.flatMap((pipeline) => pipeline.stages);
  return { ...property, options: stages.map(({ id, label }) => ({ value: id, label })) };
}

/** HubSpot names its own objects in the singular in references. Custom objects have their usual names. */
const REFERENCED_OBJECTS: Record<string, string> = {
  COMPANY: 'companies',
  CONTACT: 'contacts',
  DEAL: 'deals',
  LINE_ITEM: 'line_items',
  OWNER: 'users',
  PRODUCT: 'products',
  TICKET: 'tickets',
  USER: 'users',
};

function describeProperty(property: Property): Omit<FieldDescription, 'isRequired'> {
  const { name, type, fieldType, options, referencedObjectType } = property;
  const valueType = toValueType(property);
  const isSelect = valueType === 'SINGLE_SELECT' || valueType === 'MULTI_SELECT';
  return {
    fieldName: name.toLowerCase(),
    displayName: property.label ?? null,
    valueType,
    providerType: `${type}.${fieldType}`,
    readOnly: property.modificationMetadata?.readOnlyValue ?? false,
    isCustom: !property.hubspotDefined,
    values: isSelect
      ? (options ?? []).map(({ value, label }) => ({ value, displayValue: label }))
      : null,
    referenceTo: referencedObjectType
      ? [REFERENCED_OBJECTS[referencedObjectType] ?? referencedObjectType]
      : null,
  };
}

const VALUE_TYPES: Record<string, FieldValueType> = {
  string: 'STRING',
  bool: 'BOOLEAN',
  datetime: 'DATETIME',
  number: 'FLOAT',
};

const ENUMERATION_TYPES: Record<string, FieldValueType> = {
  booleancheckbox: 'BOOLEAN',
  radio: 'SINGLE_SELECT',
  select: 'SINGLE_SELECT',
  checkbox: 'MULTI_SELECT',
};

function toValueType({ type, fieldType, referencedObjectType }: Property): FieldValueType {
  if (referencedObjectType) return 'REFERENCE';
  if (type === 'enumeration') return ENUMERATION_TYPES[fieldType] ?? 'OTHER';
  return VALUE_TYPES[type] ?? 'OTHER';
}
