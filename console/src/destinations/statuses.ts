/** The statuses of deliveries, as filter options. */
export const STATUSES = ['PENDING', 'RETRYING', 'SUCCEEDED', 'FAILED'] as const;
export type Status = (typeof STATUSES)[number];
