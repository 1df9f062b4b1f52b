/** Changes of the present config of an installation, in the wire form of the reference API. */
import type { z } from 'zod';
import { getInstallationByKey } from '../../../domain/installation/installation.ts';
import type { ConfigContent } from '../../../domain/installation/installation-config.ts';
import {
  updateInstallation,
  updateOfPresentConfig,
} from '../../../domain/installation/installation-update.ts';
import type { IntegrationKey } from '../../../domain/integration/integration.ts';
import { issueAt, toIssues } from '../../../domain/issues.ts';
import { type Issue, invalidInput } from '../../../errors.ts';
import type { RestRequest } from '../../endpoint/endpoint.ts';
import { maskRemedy } from '../../endpoint/mask.ts';
import type { Places } from '../../endpoint/places.ts';
import { errorInRequest } from '../../endpoint/rest-errors.ts';
import { configInput, type WireConfig } from './config-shape.ts';
import { parseConfig, placeInConfig } from './parse-config.ts';
import { showConfig } from './show-config.ts';

/** The updateMask of an installation: the paths that it may name, and values at them. */

/** More paths than a config has members would name some twice. */
export const MASK_MAX = 1_000;

/** The names on the way to a member. */
type MaskPath = readonly string[];

const ALLOWED = [
  'connectionId',
  'config',
  'config.createdBy',
  'config.content',
  'config.content.read.objects and below',
  'config.content.write.objects and below',
  'config.content.subscribe.objects and below',
  'config.content.proxy.enabled',
];
const DOT_OR_BELOW = /^config(\.(createdBy|content(\.proxy\.enabled)?))?$|^connectionId$/;
const OBJECTS_OR_BELOW = /^config\.content\.(read|write|subscribe)\.objects(\.|$)/;

/** Dots between parts; a backslash before a dot or a colon makes it one of the name. Throws if one is not allowed. */
export function readMask(updateMask: readonly string[]): MaskPath[] {
  const issues = updateMask.flatMap((mask, index) =>
    DOT_OR_BELOW.test(mask) || OBJECTS_OR_BELOW.test(mask)
      ? []
      : [issueAt(['updateMask', index], `must be one of ${ALLOWED.join(', ')}.`, mask)],
  );
  if (issues.length > 0) throw invalidInput(issues, { ...maskRemedy(issues, ALLOWED) });
  return updateMask.map(partsOf);
}

function partsOf(mask: string): string[] {
  return (mask.match(/(?:\\.|[^.\\])+/gs) ?? []).map((part) => part.replace(/\\(.)/gs, '$1'));
}

/** Returns a copy of the values that the mask names. A mask that is malformed or too long keeps all values. */
export function namedValues(values: unknown, updateMask: unknown): unknown {
  const isMask = Array.isArray(updateMask) && updateMask.length <= MASK_MAX;
  if (!isMask || !updateMask.every((name) => typeof name === 'string')) return values;
  return updateMask.map(partsOf).reduce<unknown>((kept, path) => {
    const value = valueAt(values, path);
    return value === undefined ? kept : withValueAt(kept, path, value);
  }, {});
}

function valueAt(values: unknown, path: MaskPath): unknown {
  return path.reduce<unknown>((inner, name) => memberOf(inner, name), values);
}

/** Throws BAD_USER_INPUT if there is no value at a path that the mask names. */
export function maskedValue(values: unknown, path: MaskPath): unknown {
  const value = valueAt(values, path);
  if (value !== undefined) return value;
  const left: Issue = issueAt(
    ['installation', ...path],
    'is required, because updateMask names it.',
  );
  throw invalidInput([left]);
}

/** A copy, with the value at the path. Members on the way to it are made if there are none. */
export function withValueAt(target: unknown, [first, ...rest]: MaskPath, value: unknown): unknown {
  if (first === undefined) return value;
  const members = typeof target === 'object' && target !== null ? target : {};
  return { ...members, [first]: withValueAt(memberOf(members, first), rest, value) };
}

/** Its own: a name like `constructor` is a name like any other. */
function memberOf(target: unknown, name: string): unknown {
  if (typeof target !== 'object' || target === null || !Object.hasOwn(target, name)) {
    return undefined;
  }
  return (target as Record<string, unknown>)[name];
}

interface Revision {
  key: IntegrationKey & { installationId: string };
  /** Changes besides those of the config. */
  otherChanges?: { connectionId?: string; configCreatedBy?: string; skipSampling?: boolean };
  /** Returns the new config. Absent if the config does not change. */
  revise?: (present: WireConfig) => unknown;
  /** Where the config and its members are in the request, for what is found wrong with them. */
  placeOf(place: string): string;
}

/** Throws NOT_FOUND, also for an installation of another integration, and BAD_USER_INPUT with places in the request. */
export async function reviseInstallation(
  { call }: RestRequest,
  { key, otherChanges, revise, placeOf }: Revision,
) {
  await getInstallationByKey(call, key);
  const { projectIdOrName, installationId } = key;
  const input = { projectIdOrName, installationId, skipSampling: false, ...otherChanges };
  if (!revise) return updateInstallation(call, input);
  let wire: WireConfig = {};
  const next = (present: ConfigContent) => {
    const { data, error } = configInput.safeParse(revise(presentConfig(present)));
    if (error) throw invalidInput(placed(error, placeOf));
    wire = data;
    return parseConfig(wire);
  };
  try {
    return await updateOfPresentConfig(next)(call, input);
  } catch (error) {
    const inside = (rest: string) => placeOf(placeInConfig(wire, rest));
    const config = { in: 'body', name: '', inside } as const;
    const connectionId = { in: 'body', name: 'installation.connectionId' } as const;
    const places: Places = new Map(Object.entries({ config, connectionId }));
    throw errorInRequest(places, error);
  }
}

/** As callers see it, without members that are undefined. */
function presentConfig(present: ConfigContent): WireConfig {
  return JSON.parse(JSON.stringify(showConfig(present)));
}

function placed(error: z.ZodError, placeOf: Revision['placeOf']) {
  return toIssues(error, undefined).map((issue) => ({
    ...issue,
    name: placeOf(issue.name && `.${issue.name}`),
  }));
}
