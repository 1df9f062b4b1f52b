/** Objects that the HubSpot test server starts with: two standard objects and a custom one. */
import type { HubspotObject, HubspotProperty } from './hubspot-store.ts';

export function hubspotObjects(): Record<string, HubspotObject> {
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
        property('dealname', 'string.text'),
        property('amount', 'number.number'),
        property('dealstage', 'enumeration.radio'),
        property('hs_object_id', 'number.number', { readOnly: true }),
        property('hs_lastmodifieddate', 'datetime.date', { readOnly: true }),
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
      properties: [property('model', 'string.text', { custom: true })],
      pipelines: [],
      changedProperty: 'hs_lastmodifieddate',
    },
  };
}

function contactProperties(): HubspotProperty[] {
  return [
    property('firstname', 'string.text'),
    property('lastname', 'string.text'),
    property('email', 'string.text'),
    property('lifecyclestage', 'enumeration.radio', { options: ['lead', 'customer'] }),
    property('hs_persona', 'enumeration.select', { options: ['persona_1'] }),
    property('hs_buying_role', 'enumeration.checkbox', { options: ['BUDGET_HOLDER', 'CHAMPION'] }),
    property('hs_email_optout', 'bool.booleancheckbox'),
    property('vip', 'enumeration.booleancheckbox', { custom: true, options: ['true', 'false'] }),
    property('hubspot_owner_id', 'enumeration.select', { referencedObjectType: 'OWNER' }),
    property('associatedcompanyid', 'number.number', { referencedObjectType: 'COMPANY' }),
    property('score', 'number.number', { custom: true }),
    property('birthday', 'date.date', { custom: true }),
    property('createdate', 'datetime.date', { readOnly: true }),
    property('lastmodifieddate', 'datetime.date', { readOnly: true }),
    property('hs_object_id', 'number.number', { readOnly: true }),
    property('hs_calendar', 'object_coordinates.text'),
  ];
}

interface Traits {
  custom?: boolean;
  readOnly?: boolean;
  options?: string[];
  referencedObjectType?: string;
}

function property(
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
