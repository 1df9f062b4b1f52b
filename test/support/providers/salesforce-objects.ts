/** Objects that the Salesforce test server starts with. */
import type { SalesforceField, SalesforceObject } from './salesforce-store.ts';

export function salesforceObjects(): SalesforceObject[] {
  return [
    { name: 'Account', label: 'Account', keyPrefix: '001', fields: accountFields() },
    {
      name: 'Contact',
      label: 'Contact',
      keyPrefix: '003',
      fields: [
        ...systemFields(),
        field('LastName', 'string', { nillable: false }),
        field('Email', 'email'),
        field('AccountId', 'reference', { referenceTo: ['Account'] }),
      ],
    },
  ];
}

function systemFields(): SalesforceField[] {
  const systemTraits = { nillable: false, createable: false, updateable: false };
  return [field('Id', 'id', systemTraits), field('SystemModstamp', 'datetime', systemTraits)];
}

function accountFields(): SalesforceField[] {
  return [
    ...systemFields(),
    field('Name', 'string', { nillable: false }),
    field('Description', 'textarea'),
    field('Website', 'url'),
    field('Phone', 'phone'),
    field('BillingAddress', 'address', { createable: false, updateable: false }),
    field('BillingStreet', 'textarea'),
    field('Industry', 'picklist', { picklistValues: ['Banking', 'Energy'] }),
    field('Salutation', 'combobox', { picklistValues: ['Dr.'] }),
    field('Regions__c', 'multipicklist', { custom: true, picklistValues: ['North', 'South'] }),
    field('Active__c', 'boolean', { custom: true, nillable: false, defaultedOnCreate: true }),
    field('Founded__c', 'date', { custom: true }),
    field('NumberOfEmployees', 'int'),
    field('Score__c', 'double', { custom: true }),
    field('AnnualRevenue', 'currency'),
    field('Margin__c', 'percent', { custom: true }),
    field('OwnerId', 'reference', {
      nillable: false,
      defaultedOnCreate: true,
      referenceTo: ['User', 'Group'],
    }),
    field('Serial__c', 'string', { custom: true, nillable: false, autoNumber: true }),
    field('Total__c', 'currency', { custom: true, nillable: false, calculated: true }),
  ];
}

type Traits = Partial<Omit<SalesforceField, 'picklistValues'>> & { picklistValues?: string[] };

function field(name: string, type: string, traits: Traits = {}): SalesforceField {
  const { picklistValues = [], ...otherTraits } = traits;
  return {
    name,
    label: `${name} label`,
    type,
    custom: false,
    autoNumber: false,
    calculated: false,
    createable: !(traits.autoNumber || traits.calculated),
    updateable: true,
    nillable: true,
    defaultedOnCreate: false,
    referenceTo: [],
    ...otherTraits,
    picklistValues: [...picklistValues, 'Retired'].map((value) => ({
      value,
      label: value === 'Retired' ? null : `${value} label`,
      active: value !== 'Retired',
      defaultValue: false,
    })),
  };
}
