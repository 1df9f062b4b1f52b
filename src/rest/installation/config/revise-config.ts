/** Changes of the present config of an installation, in the reference API's form. */
import { getInstallationByKey } from '../../../domain/installation/installation.ts';
import type { ConfigContent } from '../../../domain/installation/installation-config.ts';
import {
  updateInstallation,
  updateOfPresentConfig,
} from '../../../domain/installation/installation-update.ts';
import type { IntegrationKey } from '../../../domain/integration/integration.ts';
import { issueAt, toIssues } from '../../../domain/issues.ts';
import { invalidInput } from '../../../errors.ts';
import type { RestRequest } from '../../endpoint/endpoint.ts';
import { type Locations, locateError } from '../../endpoint/locations.ts';
import { getValue, type Path, pickValues, suggestNames } from '../../endpoint/mask.ts';
import {
  configInput,
  locateInConfig,
  parseConfig,
  showConfig,
  type WireConfig,
} from './config-form.ts';

/** The most paths in a mask. A valid mask needs fewer. */
export const MASK_MAX = 1_000;

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
const MEMBER = /^config(\.(createdBy|content(\.proxy\.enabled)?))?$|^connectionId$/;
const OBJECTS_OR_BELOW = /^config\.content\.(read|write|subscribe)\.objects(\.|$)/;

/** Returns the paths that an updateMask names. Throws BAD_USER_INPUT if one is not allowed. */
export function parseMask(updateMask: readonly string[]): Path[] {
  const issues = updateMask.flatMap((mask, index) =>
    MEMBER.test(mask) || OBJECTS_OR_BELOW.test(mask)
      ? []
      : [issueAt(['updateMask', index], `must be one of ${ALLOWED.join(', ')}.`, mask)],
  );
  if (issues.length > 0) throw invalidInput(issues, { ...suggestNames(issues, ALLOWED) });
  return updateMask.map(splitMask);
}

/** Dots separate the names. A backslash before a dot or a colon makes it a part of the name. */
function splitMask(mask: string): string[] {
  return (mask.match(/(?:\\.|[^.\\])+/gs) ?? []).map((part) => part.replace(/\\(.)/gs, '$1'));
}

/** Returns a copy of the values that the mask names. A mask that is malformed or too long keeps all values. */
export function pickNamed(values: unknown, updateMask: unknown): unknown {
  const isMask = Array.isArray(updateMask) && updateMask.length <= MASK_MAX;
  if (!isMask || !updateMask.every((name) => typeof name === 'string')) return values;
  return pickValues(values, updateMask.map(splitMask));
}

/** Throws BAD_USER_INPUT if there is no value at a path that the mask names. */
export function requireValue(values: unknown, path: Path): unknown {
  const value = getValue(values, path);
  if (value !== undefined) return value;
  const detail = 'is required, because updateMask names it.';
  throw invalidInput([issueAt(['installation', ...path], detail)]);
}

interface InstallationChange {
  key: IntegrationKey & { installationId: string };
  /** Changes in addition to those of the config. */
  otherChanges?: { connectionId?: string; configCreatedBy?: string; skipSampling?: boolean };
  /** Returns the new config. Absent if the config does not change. */
  revise?: (present: WireConfig) => unknown;
  /** Maps a location inside the config to the request. */
  locate(location: string): string;
}

/**
 * Throws NOT_FOUND, also for an installation of another integration, and BAD_USER_INPUT with locations in the request.
 */
export async function changeInstallation(
  { call }: RestRequest,
  { key, otherChanges, revise, locate }: InstallationChange,
) {
  await getInstallationByKey(call, key);
  const { projectIdOrName, installationId } = key;
  const input = { projectIdOrName, installationId, skipSampling: false, ...otherChanges };
  if (!revise) return updateInstallation(call, input);
  let wire: WireConfig = {};
  const parseRevised = (present: ConfigContent) => {
    const { data, error } = configInput.safeParse(revise(toWire(present)));
    if (error) {
      const issues = toIssues(error, undefined);
      const locateName = (name: string) => locate(name && `.${name}`);
      throw invalidInput(issues.map((issue) => ({ ...issue, name: locateName(issue.name) })));
    }
    wire = data;
    return parseConfig(wire);
  };
  try {
    return await updateOfPresentConfig(parseRevised)(call, input);
  } catch (error) {
    const inside = (rest: string) => locate(locateInConfig(wire, rest));
    const locations: Locations = new Map(
      Object.entries({
        config: { in: 'body', name: '', inside },
        connectionId: { in: 'body', name: 'installation.connectionId' },
      }),
    );
    throw locateError(locations, error);
  }
}

/** Returns the config as callers see it, without members that are undefined. */
function toWire(present: ConfigContent): WireConfig {
  return JSON.parse(JSON.stringify(showConfig(present)));
}
