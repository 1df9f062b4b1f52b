/** Objects that the Salesforce test server starts with. */
import type { SalesforceField, SalesforceObject } from './salesforce-store.ts';

export function createSalesforceObjects(): SalesforceObject[] {
  return [
    { name: 'Account', label: 'Account', keyPrefix: '001', fields: createAccountFields() },
    {
      name: 'Contact',
      label: 'Contact',
      keyPrefix: '003',
      fields: [
        ...createSystemFields(),
        createField('LastName', 'string', { nillable: false }),
        createField('Email', 'email'),
        createField('AccountId', 'reference', { referenceTo: ['Account'] }),
      ],
    },
  ];
}

function createSystemFields(): SalesforceField[] {
  const systemTraits = { nillable: false, createable: false, updateable: false };
  return [
    createField('Id', 'id', systemTraits),
    createField('SystemModstamp', 'datetime', systemTraits),
  ];
}

function createAccountFields(): SalesforceField[] {
  return [
    ...createSystemFields(),
    createField('Name', 'string', { nillable: false }),
    createField('Description', 'textarea'),
    createField('Website', 'url'),
    createField('Phone', 'phone'),
    createField('BillingAddress', 'address', { createable: false, updateable: false }),
    createField('BillingStreet', 'textarea'),
    createField('Industry', 'picklist', { picklistValues: ['Banking', 'Energy'] }),
    createField('Salutation', 'combobox', { picklistValues: ['Dr.'] }),
    createField('Regions__c', 'multipicklist', {
      custom: true,
      picklistValues: ['North', 'South'],
    }),
    createField('Active__c', 'boolean', { custom: true, nillable: false, defaultedOnCreate: true }),
    createField('Founded__c', 'date', { custom: true }),
    createField('NumberOfEmployees', 'int'),
    createField('Score__c', 'double', { custom: true }),
    createField('AnnualRevenue', 'currency'),
    createField('Margin__c', 'percent', { custom: true }),
    createField('OwnerId', 'reference', {
      nillable: false,
      defaultedOnCreate: true,
      referenceTo: ['User', 'Group'],
    }),
    createField('Serial__c', 'string', { custom: true, nillable: false, autoNumber: true }),
    createField('Total__c', 'currency', { custom: true, nillable: false, calculated: true }),
  ];
}

type Traits = Partial<Omit<SalesforceField, 'picklistValues'>> & { picklistValues?: string[] };

function createField(name: string, type: string, traits: Traits = {}): SalesforceField {
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
