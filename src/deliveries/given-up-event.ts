/** The event that a delivery is given up. The statement that records the last attempt appends it. */
import type { EventRow } from '../database/hot/append-events.ts';
import { eventRow } from '../events/record.ts';
import type { Job } from './claim.ts';
import type { Decision } from './decide.ts';
import { maskUrl } from './target-secrets.ts';

/** What is not known here (its destination's name, what it carried) the statement adds. */
export function givenUpEvent({ row }: Job, { failureReason }: Decision): EventRow {
  const { id: deliveryId, projectId, destinationId, url, attemptCount } = row;
  return eventRow({
    projectId,
    eventType: 'DELIVERY_FAILED',
    data: {
      projectId,
      deliveryId,
      destinationId,
      destinationName: destinationId,
      url: maskUrl(url),
      attempts: attemptCount + 1,
      error: failureReason ?? '',
    },
    destinationId,
    subject: null,
  });
}
