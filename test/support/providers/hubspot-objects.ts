/** Objects that the HubSpot test server starts with: two standard objects and a custom one. */
import type { HubspotObject, HubspotProperty } from './hubspot-store.ts';

export function createHubspotObjects(): Record<string, HubspotObject> {
  return {
    contacts: {
      labels: { singular: 'Contact', plural: 'Contacts' },
      requiredProperties: ['email'],
      properties: contactProperties(),
      pipelines: [],
      changedProperty: 'lastmodifieddate',
    },
    deals: {
      labels: { singular: 'Deal', plural: 'Deals' },
      requiredProperties: ['dealname', 'dealstage'],
      properties: [
        createProperty('dealname', 'string.text'),
        createProperty('amount', 'number.number'),
        createProperty('dealstage', 'enumeration.radio'),
        createProperty('hs_object_id', 'number.number', { readOnly: true }),
        createProperty('hs_lastmodifieddate', 'datetime.date', { readOnly: true }),
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
      properties: [createProperty('model', 'string.text', { custom: true })],
      pipelines: [],
      changedProperty: 'hs_lastmodifieddate',
    },
  };
}

function contactProperties(): HubspotProperty[] {
  return [
    createProperty('firstname', 'string.text'),
    createProperty('lastname', 'string.text'),
    createProperty('email', 'string.text'),
    createProperty('lifecyclestage', 'enumeration.radio', { options: ['lead', 'customer'] }),
    createProperty('hs_persona', 'enumeration.select', { options: ['persona_1'] }),
    createProperty('hs_buying_role', 'enumeration.checkbox', {
      options: ['BUDGET_HOLDER', 'CHAMPION'],
    }),
    createProperty('hs_email_optout', 'bool.booleancheckbox'),
    createProperty('vip', 'enumeration.booleancheckbox', {
      custom: true,
      options: ['true', 'false'],
    }),
    createProperty('hubspot_owner_id', 'enumeration.select', { referencedObjectType: 'OWNER' }),
    createProperty('associatedcompanyid', 'number.number', { referencedObjectType: 'COMPANY' }),
    createProperty('score', 'number.number', { custom: true }),
    createProperty('birthday', 'date.date', { custom: true }),
    createProperty('createdate', 'datetime.date', { readOnly: true }),
    createProperty('lastmodifieddate', 'datetime.date', { readOnly: true }),
    createProperty('hs_object_id', 'number.number', { readOnly: true }),
    createProperty('hs_calendar', 'object_coordinates.text'),
  ];
}

interface Traits {
  custom?: boolean;
  readOnly?: boolean;
  options?: string[];
  referencedObjectType?: string;
}

function createProperty(
  name: string,
  type: `${string}.${string}`,
  { custom = false, readOnly = false, options = [], referencedObjectType }: Traits = {},
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
