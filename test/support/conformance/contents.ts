/** Contents of integrations with every member of the reference API that one provider supports. */

/** Reads, writes and proxies at the sandbox. */
export const completeContent = {
  displayName: 'CRM sync',
  read: {
    objects: [
      {
        objectName: 'contacts',
        destination: 'records',
        schedule: '*/10 * * * *',
        mapToName: 'people',
        mapToDisplayName: 'People',
        requiredFields: [
          { fieldName: 'email', mapToName: 'mail', mapToDisplayName: 'Email address' },
        ],
        optionalFields: [
          { fieldName: 'phone', mapToName: 'telephone', mapToDisplayName: 'Telephone' },
        ],
        optionalFieldsAuto: 'all',
        backfill: { defaultPeriod: { days: 30 } },
        delivery: { mode: 'auto', pageSize: 100 },
        enabled: 'always',
      },
    ],
  },
  write: {
    objects: [
      { objectName: 'contacts', inheritMapping: true, valueDefaults: { allowAnyFields: true } },
    ],
  },
  proxy: { enabled: true, useModule: false },
};

/** Subscribed objects must be read too. */
export const subscribeContent = {
  read: completeContent.read,
  subscribe: {
    objects: [
      {
        objectName: 'contacts',
        destination: 'records',
        inheritFieldsAndMapping: true,
        createEvent: { enabled: 'always' },
        updateEvent: { enabled: 'always', requiredWatchFields: ['email'] },
        deleteEvent: { enabled: 'always' },
        associationChangeEvent: { enabled: 'always', includeFullRecords: true },
        otherEvents: ['object.merged', 'object.restored'],
      },
    ],
  },
};
