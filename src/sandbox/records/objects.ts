/**
 * Defines the objects of the sandbox's CRM with their fields, which `GET /objects/{object}` describes, and the object of
 * its help desk.
 */

export const OBJECT_NAMES = ['contacts', 'companies', 'deals'] as const;
export type ObjectName = (typeof OBJECT_NAMES)[number];
/** The objects of the CRM, and `people` of the help desk. */
export const TABLE_NAMES = [...OBJECT_NAMES, 'people'] as const;
export type TableName = (typeof TABLE_NAMES)[number];

export type FieldType =
  | 'text'
  | 'email'
  | 'boolean'
  | 'select'
  | 'multiselect'
  | 'date'
  | 'datetime'
  | 'integer'
  | 'decimal'
  | 'reference';

export interface CrmField {
  name: string;
  displayName: string;
  type: FieldType;
  required?: boolean;
  /** No two records may have the same value, ignoring case. */
  unique?: boolean;
  /** True for a custom field. */
  custom?: boolean;
  readOnly?: boolean;
  description?: string;
  options?: { value: string; displayName: string }[];
  references?: ObjectName;
}

export interface ObjectDefinition {
  name: TableName;
  displayName: string;
  fields: CrmField[];
}

const SYSTEM_FIELDS: CrmField[] = [
  { name: 'id', displayName: 'ID', type: 'text', readOnly: true },
  { name: 'created_at', displayName: 'Created at', type: 'datetime', readOnly: true },
  { name: 'updated_at', displayName: 'Updated at', type: 'datetime', readOnly: true },
];

const CONTACT_FIELDS: CrmField[] = [
  { name: 'email', displayName: 'Email', type: 'email', required: true, unique: true },
  { name: 'firstname', displayName: 'First name', type: 'text' },
  { name: 'lastname', displayName: 'Last name', type: 'text' },
  { name: 'phone', displayName: 'Phone', type: 'text' },
  {
    name: 'lifecycle',
    displayName: 'Lifecycle stage',
    type: 'select',
    options: [
      { value: 'subscriber', displayName: 'Subscriber' },
      { value: 'lead', displayName: 'Lead' },
      { value: 'opportunity', displayName: 'Opportunity' },
      { value: 'customer', displayName: 'Customer' },
    ],
  },
  {
    name: 'interests',
    displayName: 'Interests',
    type: 'multiselect',
    options: [
      { value: 'product', displayName: 'Product' },
      { value: 'pricing', displayName: 'Pricing' },
      { value: 'events', displayName: 'Events' },
      { value: 'research', displayName: 'Research' },
    ],
  },
  { name: 'birthday', displayName: 'Birthday', type: 'date' },
  { name: 'score', displayName: 'Score', type: 'integer', custom: true },
  { name: 'annual_spend', displayName: 'Annual spend', type: 'decimal', custom: true },
  { name: 'newsletter', displayName: 'Newsletter', type: 'boolean' },
  { name: 'company_id', displayName: 'Company', type: 'reference', references: 'companies' },
];

const COMPANY_FIELDS: CrmField[] = [
  { name: 'name', displayName: 'Name', type: 'text', required: true },
  { name: 'domain', displayName: 'Domain', type: 'text', unique: true },
  {
    name: 'industry',
    displayName: 'Industry',
    type: 'select',
    options: [
      { value: 'software', displayName: 'Software' },
      { value: 'retail', displayName: 'Retail' },
      { value: 'health', displayName: 'Health' },
      { value: 'finance', displayName: 'Finance' },
    ],
  },
  { name: 'employees', displayName: 'Employees', type: 'integer' },
  { name: 'country', displayName: 'Country', type: 'text' },
];

/** Deals have no unique field, so repeating a creation creates a second deal unless it has an idempotency key. */
const DEAL_FIELDS: CrmField[] = [
  { name: 'name', displayName: 'Name', type: 'text', required: true },
  { name: 'amount', displayName: 'Amount', type: 'decimal' },
  {
    name: 'stage',
    displayName: 'Stage',
    type: 'select',
    options: [
      { value: 'new', displayName: 'New' },
      { value: 'qualified', displayName: 'Qualified' },
      { value: 'proposal', displayName: 'Proposal' },
      { value: 'won', displayName: 'Won' },
      { value: 'lost', displayName: 'Lost' },
    ],
  },
  { name: 'close_date', displayName: 'Close date', type: 'datetime' },
  { name: 'company_id', displayName: 'Company', type: 'reference', references: 'companies' },
  { name: 'contact_id', displayName: 'Contact', type: 'reference', references: 'contacts' },
];

const PERSON_FIELDS: CrmField[] = [
  { name: 'given', displayName: 'Given name', type: 'text' },
  { name: 'family', displayName: 'Family name', type: 'text' },
  { name: 'mail', displayName: 'Email', type: 'email', required: true, unique: true },
  { name: 'mobile', displayName: 'Mobile', type: 'text' },
  { name: 'newsletter', displayName: 'Newsletter', type: 'boolean' },
];

export const OBJECTS: Record<TableName, ObjectDefinition> = {
  contacts: defineObject('contacts', 'Contacts', CONTACT_FIELDS),
  companies: defineObject('companies', 'Companies', COMPANY_FIELDS),
  deals: defineObject('deals', 'Deals', DEAL_FIELDS),
  people: defineObject('people', 'People of the help desk', PERSON_FIELDS),
};

function defineObject(name: TableName, displayName: string, fields: CrmField[]) {
  return { name, displayName, fields: [...SYSTEM_FIELDS, ...fields] };
}
