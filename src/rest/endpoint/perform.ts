/** One request to one endpoint: its caller, its input, and how long it may take. */

import type { Services } from '../../domain/call.ts';
import { createRelations } from '../../domain/relations.ts';
import type { Admission, Sender } from '../../domain/viewer/admission.ts';
import { authorize } from '../../domain/viewer/needs.ts';
import { type Credentials, projectIdOf, type Viewer } from '../../domain/viewer/viewer.ts';
import { withoutCredentials } from '../../errors.ts';
import { timed } from '../../meters.ts';
import { inSpan } from '../../spans.ts';
import { operationMsMax, outOfTime, withDeadline } from '../../work/deadline.ts';
import type { Endpoint, Parts } from './endpoint.ts';
import { readInput } from './request-input.ts';
import { errorInRequest } from './rest-errors.ts';

export interface Gateway {
  services: Services;
  admission: Admission;
}

/** A request as it came in, taken apart. */
export interface Received {
  credentials: Credentials;
  sender: Pick<Sender, 'address' | 'page'>;
  parts: Parts;
  url: string;
  setHeader(name: string, value: string): void;
}

/** What the endpoint shows. Everything that it throws is answered as a problem. */
export async function perform(
  endpoint: Endpoint,
  { services, admission }: Gateway,
  received: Received,
): Promise<unknown> {
  const { meters } = services;
  let viewer: Viewer | undefined;
  const work = async () => {
    viewer = await admit(admission, received);
    return answer(endpoint, services, { received, viewer });
  };
  return timed(meters, work, ({ outcome, seconds }) => {
    const projectId = (viewer && projectIdOf(viewer)) ?? undefined;
    meters.requested({ surface: 'rest', kind: kindOf(endpoint), outcome, seconds, projectId });
  });
}

function kindOf({ method }: Endpoint): 'query' | 'mutation' {
  return method === 'GET' ? 'query' : 'mutation';
}

async function answer(
  endpoint: Endpoint,
  services: Services,
  { received, viewer }: { received: Received; viewer: Viewer },
): Promise<unknown> {
  // A caller who may not do it is told so, and nothing of the input.
  authorize(viewer, endpoint.needs);
  const { input, places } = readInput(endpoint, received.parts);
  const { url, setHeader } = received;
  const call = { ...services, viewer };
  const request = { call, ...createRelations(call), url, setHeader };
  const run = () => inSpan('execute', {}, () => endpoint.run(request, input));
  return inTime(endpoint, services, run).catch((error: unknown) => {
    throw errorInRequest(places, error);
  });
}

/** Every request passes here once. */
export async function admit(
  admission: Admission,
  { credentials, sender, setHeader }: Pick<Received, 'credentials' | 'sender' | 'setHeader'>,
): Promise<Viewer> {
  const { address, page } = sender;
  const viewer = await admission.admit(credentials, { address, page, setHeader });
  if (!viewer) throw withoutCredentials();
  return viewer;
}

/** Ends the answer, and not the work: its statements end by the database's own timeout. */
function inTime<T>(
  { method }: Endpoint,
  { config, database }: Services,
  run: () => Promise<T>,
): Promise<T> {
  const isChange = method !== 'GET';
  const maximumMs = operationMsMax(config, { isChange });
  return withDeadline(run(), maximumMs, () => {
    throw database.outages.waitedFor(outOfTime('request', { isChange, maximumMs }));
  });
}
