/** Runs a request to an endpoint: admits the caller, waits for a turn, validates the input, and limits the time. */
import { type CallRequest, createCall, type Services } from '../../domain/call.ts';
import { PAGE_MAX } from '../../domain/paging/page.ts';
import { createRelations } from '../../domain/relations.ts';
import type { Admission, Sender } from '../../domain/viewer/admission.ts';
import { authorize } from '../../domain/viewer/needs.ts';
import { toWeight } from '../../domain/viewer/share/process-shares.ts';
import type { RequestSlot } from '../../domain/viewer/share/request-slot.ts';
import { type Credentials, findProjectId, type Viewer } from '../../domain/viewer/viewer.ts';
import { missingCredentials } from '../../errors.ts';
import { measure } from '../../meters.ts';
import { inSpan } from '../../spans.ts';
import { createTimeoutError, getOperationMsMax, withDeadline } from '../../work/deadline.ts';
import type { Endpoint, Parts, RestRequest } from './endpoint.ts';
import { locateError } from './locations.ts';
import { readInput, refuseUnstorable, type Validate } from './request-input.ts';
import { translateError } from './rest-terms.ts';

export interface Gateway {
  services: Services;
  admission: Admission;
}

/** A received request, split into its parts. */
export interface ReceivedRequest {
  credentials: Credentials;
  sender: Pick<Sender, 'address' | 'page'> &
    Pick<CallRequest, 'gatewayUrl'> & { slot?: RequestSlot };
  parts: Parts;
  validate: Validate;
  url: string;
  /** The header `If-None-Match`. */
  knownVersions: string | undefined;
  setHeader(name: string, value: string): void;
}

/** Returns the response of the endpoint. The error handler turns what it throws into a problem document. */
export async function runRequest(
  endpoint: Endpoint,
  { services, admission }: Gateway,
  received: ReceivedRequest,
): Promise<unknown> {
  const { config, meters } = services;
  let measuredViewer: Viewer | undefined;
  const work = async () => {
    const viewer = await admit(admission, received);
    measuredViewer = viewer;
    const weight = toWeight(config, estimateCost(endpoint, received.parts));
    // Admission has counted one request already.
    if (weight > 1) await admission.spend(viewer, weight - 1, received);
    return runInTurn(viewer, { ...received.sender, weight }, (slot) =>
      runAdmitted(endpoint, createRequest(services, viewer, { received, slot }), received),
    );
  };
  return measure(meters, work, ({ outcome, seconds }) => {
    const kind = isChange(endpoint) ? 'mutation' : 'query';
    const projectId = (measuredViewer && findProjectId(measuredViewer)) ?? undefined;
    meters.requestEnded({ surface: 'rest', kind, outcome, seconds, projectId });
  });
}

function createRequest(
  services: Services,
  viewer: Viewer,
  { received, slot }: { received: ReceivedRequest; slot: RequestSlot | undefined },
): RestRequest {
  const { url, setHeader, sender, knownVersions } = received;
  const call = createCall(services, viewer, { slot, gatewayUrl: sender.gatewayUrl });
  return { call, ...createRelations(call), url, setHeader, knownVersions, warnings: [] };
}

/** Authorizes the caller, validates the input, and runs the endpoint. Throws errors in REST's terms. */
async function runAdmitted(
  endpoint: Endpoint,
  request: RestRequest,
  { parts: receivedParts, validate }: ReceivedRequest,
): Promise<unknown> {
  let parts = receivedParts;
  try {
    // Must precede validation: a caller without the scope learns nothing else.
    authorize(request.call.viewer, endpoint.needs);
    parts = await rewriteParts(endpoint, receivedParts, request);
    const { input, locations } = readInput(endpoint, parts, validate);
    const run = () => inSpan('execute', {}, () => endpoint.run(request, input));
    return await runInTime(request.call, { isChange: isChange(endpoint) }, run).catch(
      (error: unknown) => {
        throw locateError(locations, error);
      },
    );
  } catch (error) {
    throw translateError(endpoint, parts, error);
  }
}

async function rewriteParts(
  endpoint: Endpoint,
  parts: Parts,
  request: RestRequest,
): Promise<Parts> {
  const { rewrite } = endpoint;
  if (!rewrite) return parts;
  refuseUnstorable(parts);
  return runInTime(request.call, { isChange: isChange(endpoint) }, async () =>
    rewrite(parts, request),
  );
}

/** Returns the most objects that the response may contain. Validation refuses an invalid page size later. */
function estimateCost({ pageSizeDefault }: Endpoint, { query }: Parts): number {
  if (pageSizeDefault === undefined) return 1;
  const { pageSize = pageSizeDefault } = query as { pageSize?: unknown };
  const size = Number(pageSize);
  return size <= PAGE_MAX ? size : 1;
}

/** Runs the work when the admitted caller gets a turn. Throws RATE_LIMITED or SERVICE_UNAVAILABLE if it gets none. */
export async function runInTurn<T>(
  viewer: Viewer,
  { slot, weight = 1 }: ReceivedRequest['sender'] & { weight?: number },
  work: (slot: RequestSlot | undefined) => Promise<T>,
): Promise<T> {
  if (!slot) return work(undefined);
  slot.countByCaller(viewer);
  const turn = slot.startWork(weight);
  if (turn) await turn;
  try {
    return await work(slot);
  } finally {
    slot.finishWork();
  }
}

/** Admits the caller. Must be called once for each request. */
export async function admit(
  admission: Admission,
  { credentials, sender, setHeader }: Pick<ReceivedRequest, 'credentials' | 'sender' | 'setHeader'>,
): Promise<Viewer> {
  const { address, page, slot } = sender;
  const viewer = await admission.admit(credentials, { address, page, slot, setHeader });
  if (!viewer) throw missingCredentials();
  return viewer;
}

/** Rejects when the deadline expires. The work continues until the database's own timeout ends its statements. */
export function runInTime<T>(
  { config, database }: Services,
  { isChange }: { isChange: boolean },
  run: () => Promise<T>,
): Promise<T> {
  const maximumMs = getOperationMsMax(config, { isChange });
  return withDeadline(run(), maximumMs, () => {
    throw database.outages.replaceTimeoutError(
      createTimeoutError('request', { isChange, maximumMs }),
    );
  });
}

function isChange({ method }: Endpoint): boolean {
  return method !== 'GET';
}
