/** Objects that the HubSpot test server starts with: two standard objects and a custom one. */
import type { HubspotObject, HubspotProperty } from './hubspot-store.ts';

export function createHubspotObjects(): Record<string, HubspotObject> {
  return {
    contacts: {
      labels: { singular: 'Contact', plural: 'Contacts' },
      requiredProperties: ['email'],
      properties: createContactProperties(),
      pipelines: [],
      changedProperty: 'lastmodifieddate',
    },
    deals: {
      labels: { singular: 'Deal', plural: 'Deals' },
      requiredProperties: ['dealname', 'dealstage'],
      properties: [
        defineProperty('dealname', 'string.text'),
        defineProperty('amount', 'number.number'),
        defineProperty('dealstage', 'enumeration.radio'),
        defineProperty('hs_object_id', 'number.number', { readOnly: true }),
        defineProperty('hs_lastmodifieddate', 'datetime.date', { readOnly: true }),
      ],
      pipelines: [
        {
          id: 'default',
          label: 'Sales Pipeline',
          stages: [
            { id: 'appointmentscheduled', label: 'Appointment Scheduled' },
            { id: 'closedwon', label: 'Closed Won' },
          ],
        },
      ],
      changedProperty: 'hs_lastmodifieddate',
    },
    p123_cars: {
      labels: { singular: 'Car', plural: 'Cars' },
      requiredProperties: [],
      properties: [defineProperty('model', 'string.text', { custom: true })],
      pipelines: [],
      changedProperty: 'hs_lastmodifieddate',
    },
  };
}

function createContactProperties(): HubspotProperty[] {
  return [
    defineProperty('firstname', 'string.text'),
    defineProperty('lastname', 'string.text'),
    defineProperty('email', 'string.text'),
    defineProperty('lifecyclestage', 'enumeration.radio', { options: ['lead', 'customer'] }),
    defineProperty('hs_persona', 'enumeration.select', { options: ['persona_1'] }),
    defineProperty('hs_buying_role', 'enumeration.checkbox', {
      options: ['BUDGET_HOLDER', 'CHAMPION'],
    }),
    defineProperty('hs_email_optout', 'bool.booleancheckbox'),
    defineProperty('vip', 'enumeration.booleancheckbox', {
      custom: true,
      options: ['true', 'false'],
    }),
    defineProperty('hubspot_owner_id', 'enumeration.select', { referencedObjectType: 'OWNER' }),
    defineProperty('associatedcompanyid', 'number.number', { referencedObjectType: 'COMPANY' }),
    defineProperty('score', 'number.number', { custom: true }),
    defineProperty('birthday', 'date.date', { custom: true }),
    defineProperty('createdate', 'datetime.date', { readOnly: true }),
    defineProperty('lastmodifieddate', 'datetime.date', { readOnly: true }),
    defineProperty('hs_object_id', 'number.number', { readOnly: true }),
    defineProperty('hs_calendar', 'object_coordinates.text'),
  ];
}

interface PropertyOptions {
  custom?: boolean;
  readOnly?: boolean;
  options?: string[];
  referencedObjectType?: string;
}

function defineProperty(
  name: string,
  type: `${string}.${string}`,
  { custom = false, readOnly = false, options = [], referencedObjectType }: PropertyOptions = {},
): HubspotProperty {
  const [dataType = '', fieldType = ''] = type.split('.');
  return {
    name,
    label: `${name} label`,
    type: dataType,
    fieldType,
    options: options.map((value, displayOrder) => ({
      value,
      label: `${value} label`,
      displayOrder,
      hidden: false,
    })),
    hubspotDefined: !custom,
    modificationMetadata: {
      archivable: custom,
      readOnlyDefinition: !custom,
      readOnlyValue: readOnly,
    },
    ...(referencedObjectType && { referencedObjectType }),
  };
}
