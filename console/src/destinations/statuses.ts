/** Statuses of deliveries. */
export const STATUSES = ['PENDING', 'SUCCEEDED', 'FAILED'] as const;
export type Status = (typeof STATUSES)[number];
