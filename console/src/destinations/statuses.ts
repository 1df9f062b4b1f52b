/** How far a delivery may have come. */
export const STATUSES = ['PENDING', 'SUCCEEDED', 'FAILED'] as const;
export type Status = (typeof STATUSES)[number];
