/** Endpoints of the HubSpot test server that create and change properties and their groups. */
import { z } from 'zod';
import { HubspotRefusal, type HubspotStore } from './hubspot-store.ts';
import type { ServedRequest, ServedResponse } from './provider-server.ts';

const option = z.strictObject({
  label: z.string().min(1),
  value: z.string().min(1),
  displayOrder: z.int(),
  hidden: z.boolean(),
});

const FIELD_TYPES: Record<string, string[]> = {
  string: ['text', 'textarea'],
  bool: ['booleancheckbox'],
  date: ['date'],
  datetime: ['date'],
  number: ['number'],
  enumeration: ['select', 'radio', 'checkbox', 'booleancheckbox'],
};

const changes = z.strictObject({
  label: z.string().min(1).optional(),
  description: z.string().optional(),
  options: z.array(option).optional(),
});
const newProperty = changes.required({ label: true }).extend({
  name: z.string().regex(/^[a-z][a-z0-9_]*$/),
  groupName: z.string(),
  type: z.enum(Object.keys(FIELD_TYPES)),
  fieldType: z.string(),
  hasUniqueValue: z.boolean().optional(),
});

type Names = string[];

export function createProperty(
  store: HubspotStore,
  { body }: ServedRequest,
  [objectName = '']: Names,
): ServedResponse {
  const { options = [], ...newMembers } = newProperty.parse(body);
  const object = store.getObject(objectName);
  if (object.properties.some(({ name }) => name === newMembers.name)) {
    const message = `A property named '${newMembers.name}' already exists.`;
    throw new HubspotRefusal(409, 'OBJECT_ALREADY_EXISTS', message);
  }
  if (!object.groups?.[newMembers.groupName]) {
    const message = `group ${newMembers.groupName} does not exist.`;
    throw new HubspotRefusal(400, 'VALIDATION_ERROR', message);
  }
  if (!FIELD_TYPES[newMembers.type]?.includes(newMembers.fieldType)) {
    const message = `${newMembers.fieldType} is not valid for ${newMembers.type}`;
    throw new HubspotRefusal(400, 'VALIDATION_ERROR', message);
  }
  const isChosen = newMembers.type === 'enumeration' || newMembers.type === 'bool';
  if (isChosen !== options.length > 0) {
    throw new HubspotRefusal(400, 'VALIDATION_ERROR', 'options do not fit the type');
  }
  const property = {
    ...newMembers,
    options,
    hubspotDefined: false,
    modificationMetadata: { archivable: true, readOnlyDefinition: false, readOnlyValue: false },
  };
  object.properties.push(property);
  return { status: 201, body: property };
}

export function updateProperty(
  store: HubspotStore,
  { body }: ServedRequest,
  [objectName = '', propertyName = '']: Names,
): ServedResponse {
  const { properties } = store.getObject(objectName);
  const property = properties.find(({ name }) => name === propertyName);
  if (!property) throw new HubspotRefusal(404, 'OBJECT_NOT_FOUND', 'resource not found');
  if (property.modificationMetadata.readOnlyDefinition) {
    throw new HubspotRefusal(400, 'VALIDATION_ERROR', 'The property definition is read only.');
  }
  Object.assign(property, changes.parse(body));
  return { status: 200, body: property };
}

export function findGroup(
  store: HubspotStore,
  _: ServedRequest,
  [objectName = '', groupName = '']: Names,
): ServedResponse {
  const group = store.getObject(objectName).groups?.[groupName];
  if (!group) throw new HubspotRefusal(404, 'OBJECT_NOT_FOUND', 'resource not found');
  return { status: 200, body: group };
}

const newGroup = z.strictObject({ name: z.string(), label: z.string(), displayOrder: z.int() });

export function createGroup(
  store: HubspotStore,
  { body }: ServedRequest,
  [objectName = '']: Names,
): ServedResponse {
  const group = newGroup.parse(body);
  const object = store.getObject(objectName);
  object.groups = { ...object.groups, [group.name]: group };
  return { status: 201, body: group };
}
