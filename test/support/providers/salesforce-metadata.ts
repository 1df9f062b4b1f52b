/** Custom fields of the Salesforce test server, created by the Tooling API, and permissions on them. */
import { z } from 'zod';
import type { ServedResponse } from './provider-server.ts';
import {
  type SalesforceField,
  SalesforceRefusal,
  type SalesforceStore,
} from './salesforce-store.ts';

type Metadata = Record<string, unknown> & { type: string; label: string };

const metadata = z.looseObject({ type: z.string(), label: z.string().min(1).max(40) });
const newField = z.strictObject({ FullName: z.string(), Metadata: metadata });
const changedField = z.strictObject({ Metadata: metadata });

/** How custom fields of each type are described, and the members that their metadata must have. */
const FIELD_TYPES: Record<string, { describedType: string; requiredMembers: string[] }> = {
  Text: { describedType: 'string', requiredMembers: ['length'] },
  LongTextArea: { describedType: 'textarea', requiredMembers: ['length', 'visibleLines'] },
  Checkbox: { describedType: 'boolean', requiredMembers: ['defaultValue'] },
  Picklist: { describedType: 'picklist', requiredMembers: ['valueSet'] },
  MultiselectPicklist: {
    describedType: 'multipicklist',
    requiredMembers: ['valueSet', 'visibleLines'],
  },
  Number: { describedType: 'double', requiredMembers: ['precision', 'scale'] },
  Lookup: { describedType: 'reference', requiredMembers: ['referenceTo', 'relationshipName'] },
  Date: { describedType: 'date', requiredMembers: [] },
  DateTime: { describedType: 'datetime', requiredMembers: [] },
};

const valueSet = z.object({
  valueSetDefinition: z.object({
    value: z.array(z.object({ valueName: z.string(), label: z.string(), default: z.boolean() })),
  }),
});

interface CustomField {
  id: string;
  objectName: string;
  fieldName: string;
  metadata: Metadata;
}

const PERMISSIONS = {
  PermissionSet: z.strictObject({ Name: z.string(), Label: z.string() }),
  PermissionSetAssignment: z.strictObject({ AssigneeId: z.string(), PermissionSetId: z.string() }),
  FieldPermissions: z.strictObject({
    ParentId: z.string(),
    SobjectType: z.string(),
    Field: z.string(),
    PermissionsRead: z.literal(true),
    PermissionsEdit: z.literal(true),
  }),
};
type PermissionName = keyof typeof PERMISSIONS;

export const ORGANIZATION_ID = '00D000000000001AAA';

export class SalesforceMetadata {
  readonly fields: CustomField[] = [];
  readonly permissions: Record<PermissionName, Record<string, unknown>[]> = {
    PermissionSet: [],
    PermissionSetAssignment: [],
    FieldPermissions: [],
  };
  /** False if the user may not change permissions. */
  allowsPermissions = true;
  readonly #store: SalesforceStore;
  #lastNumber = 0;

  constructor(store: SalesforceStore) {
    this.#store = store;
  }

  getUserInfo(): ServedResponse {
    const ids = { user_id: '005000000000001', organization_id: ORGANIZATION_ID };
    return { status: 200, body: { sub: 'https://login/id/00D/005', ...ids } };
  }

  findField(soql: string): ServedResponse {
    const [, objectName, name] =
      /^SELECT Id, Metadata FROM CustomField WHERE EntityDefinition\.QualifiedApiName = '(\w+)' AND DeveloperName = '(\w+)' AND NamespacePrefix = null$/.exec(
        soql,
      ) ?? [];
    if (!name) throw new SalesforceRefusal(400, 'MALFORMED_QUERY', `unexpected token: ${soql}`);
    const records = this.fields
      .filter((field) => field.objectName === objectName && field.fieldName === `${name}__c`)
      .map(({ id, metadata: Metadata }) => ({ Id: id, Metadata }));
    return {
      status: 200,
      body: { size: records.length, totalSize: records.length, done: true, records },
    };
  }

  createField(body: unknown): ServedResponse {
    const { FullName, Metadata } = newField.parse(body);
    const [objectName = '', fieldName = ''] = FullName.split('.');
    const object = this.#store.objects.find(({ name }) => name === objectName);
    if (!object || !/^\w+__c$/.test(fieldName)) {
      throw new SalesforceRefusal(400, 'INVALID_CROSS_REFERENCE_KEY', `no such: ${FullName}`);
    }
    if (object.fields.some(({ name }) => name === fieldName)) {
      throw new SalesforceRefusal(400, 'DUPLICATE_DEVELOPER_NAME', `${fieldName} is used already`);
    }
    const requiredMembers = FIELD_TYPES[Metadata.type]?.requiredMembers;
    const missingMembers = requiredMembers?.filter((name) => !(name in Metadata)) ?? ['type'];
    if (missingMembers.length > 0) {
      const message = `Must specify ${missingMembers.join(', ')} for a CustomField of type ${Metadata.type}`;
      throw new SalesforceRefusal(400, 'FIELD_INTEGRITY_EXCEPTION', message);
    }
    const id = this.#newId('00N');
    this.fields.push({ id, objectName, fieldName, metadata: Metadata });
    object.fields.push(describeField(fieldName, Metadata));
    return { status: 201, body: { id, success: true, errors: [], warnings: [], infos: [] } };
  }

  updateField(id: string, body: unknown): ServedResponse {
    const field = this.fields.find((candidate) => candidate.id === id);
    if (!field) throw new SalesforceRefusal(404, 'NOT_FOUND', 'Provided id does not exist');
    field.metadata = changedField.parse(body).Metadata;
    const { fields } = this.#store.getObject(field.objectName);
    const index = fields.findIndex(({ name }) => name === field.fieldName);
    fields[index] = describeField(field.fieldName, field.metadata);
    return { status: 204 };
  }

  /** Returns null if the query selects another object. */
  findPermissions(soql: string): ServedResponse | null {
    const [, name = '', where = ''] = /^SELECT [\w, ]+ FROM (\w+) WHERE (.+)$/.exec(soql) ?? [];
    if (!isPermission(name)) return null;
    const conditions = where.split(' AND ').map((condition) => condition.split(' = '));
    const records = this.permissions[name].filter((row) =>
      conditions.every(([column = '', value]) => `'${row[column]}'` === value),
    );
    return { status: 200, body: { totalSize: records.length, done: true, records } };
  }

  /** Returns null for another object. */
  createPermission(name: string, body: unknown): ServedResponse | null {
    if (!isPermission(name)) return null;
    if (!this.allowsPermissions) {
      const message = 'insufficient access rights on object';
      throw new SalesforceRefusal(403, 'INSUFFICIENT_ACCESS_OR_READONLY', message);
    }
    const Id = this.#newId('0PS');
    this.permissions[name].push({ ...PERMISSIONS[name].parse(body), Id });
    return { status: 201, body: { id: Id, success: true, errors: [] } };
  }

  #newId(prefix: string): string {
    this.#lastNumber += 1;
    return `${prefix}${String(this.#lastNumber).padStart(12, '0')}AAA`;
  }
}

function isPermission(name: string): name is PermissionName {
  return name in PERMISSIONS;
}

function describeField(name: string, fieldMetadata: Metadata): SalesforceField {
  const { data } = valueSet.safeParse(fieldMetadata.valueSet);
  return {
    name,
    label: fieldMetadata.label,
    type: FIELD_TYPES[fieldMetadata.type]?.describedType ?? 'anyType',
    custom: true,
    autoNumber: false,
    calculated: false,
    createable: true,
    updateable: true,
    nillable: fieldMetadata.required !== true,
    defaultedOnCreate: false,
    picklistValues: (data?.valueSetDefinition.value ?? []).map((definition) => ({
      value: definition.valueName,
      label: definition.label,
      active: true,
      defaultValue: definition.default,
    })),
    referenceTo: typeof fieldMetadata.referenceTo === 'string' ? [fieldMetadata.referenceTo] : [],
  };
}
