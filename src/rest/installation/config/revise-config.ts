/** Changes of the present config of an installation, in the reference API's form. */
import { getInstallationByKey } from '../../../domain/installation/installation.ts';
import type { ConfigContent } from '../../../domain/installation/installation-config.ts';
import {
  reviseInstallation,
  updateInstallation,
} from '../../../domain/installation/installation-update.ts';
import type { IntegrationKey } from '../../../domain/integration/integration.ts';
import { createInputIssue, toIssues } from '../../../domain/issues.ts';
import { invalidInput } from '../../../errors.ts';
import type { RestRequest } from '../../endpoint/endpoint.ts';
import { type Location, locateError } from '../../endpoint/locations.ts';
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

const MEMBER_PATHS = [
  'connectionId',
  'config',
  'config.createdBy',
  'config.content',
  'config.content.proxy.enabled',
];
/** A mask may also name paths below these. */
const OBJECTS_PATHS = [
  'config.content.read.objects',
  'config.content.write.objects',
  'config.content.subscribe.objects',
];
const ALLOWED_PATHS = [...MEMBER_PATHS, ...OBJECTS_PATHS.map((path) => `${path} and below`)];

function isAllowed(mask: string): boolean {
  const isBelow = (path: string) => mask === path || mask.startsWith(`${path}.`);
  return MEMBER_PATHS.includes(mask) || OBJECTS_PATHS.some(isBelow);
}

/** Returns the paths that an updateMask names. Throws BAD_USER_INPUT if one is not allowed. */
export function parseMask(updateMask: readonly string[]): Path[] {
  const issues = updateMask.flatMap((mask, index) =>
    isAllowed(mask)
      ? []
      : [
          createInputIssue(
            ['updateMask', index],
            `must be one of ${ALLOWED_PATHS.join(', ')}.`,
            mask,
          ),
        ],
  );
  if (issues.length > 0) throw invalidInput(issues, suggestNames(issues, ALLOWED_PATHS));
  return updateMask.map(splitMask);
}

/** Splits a path at its dots. A dot or a colon after a backslash is a part of the name. */
function splitMask(mask: string): string[] {
  return (mask.match(/(?:\\.|[^.\\])+/gs) ?? []).map((part) => part.replace(/\\(.)/gs, '$1'));
}

/** Returns a copy of the values that the mask names. A mask that is malformed or too long keeps all values. */
export function pickNamedValues(values: unknown, updateMask: unknown): unknown {
  const isMask = Array.isArray(updateMask) && updateMask.length <= MASK_MAX;
  if (!isMask || !updateMask.every((name) => typeof name === 'string')) return values;
  return pickValues(values, updateMask.map(splitMask));
}

/** Throws BAD_USER_INPUT if there is no value at a path that the mask names. */
export function requireValue(values: unknown, path: Path): unknown {
  const value = getValue(values, path);
  if (value !== undefined) return value;
  const detail = 'is required, because updateMask names it.';
  throw invalidInput([createInputIssue(['installation', ...path], detail)]);
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
  let revisedConfig: WireConfig = {};
  const reviseConfig = (present: ConfigContent) => {
    revisedConfig = parseRevised(revise(toWire(present)), locate);
    return parseConfig(revisedConfig);
  };
  try {
    return await reviseInstallation(call, { ...input, revise: reviseConfig });
  } catch (error) {
    const locateInside = (rest: string) => locate(locateInConfig(revisedConfig, rest));
    throw locateError(
      new Map<string, Location>([
        ['config', { in: 'body', name: '', locateInside }],
        ['connectionId', { in: 'body', name: 'installation.connectionId' }],
      ]),
      error,
    );
  }
}

/** Throws BAD_USER_INPUT with locations in the request. */
function parseRevised(config: unknown, locate: InstallationChange['locate']): WireConfig {
  const { data, error } = configInput.safeParse(config);
  if (data) return data;
  const issues = toIssues(error, undefined);
  throw invalidInput(
    issues.map((issue) => ({ ...issue, name: locate(issue.name && `.${issue.name}`) })),
  );
}

/** Returns the config as callers see it, without members that are undefined. */
function toWire(present: ConfigContent): WireConfig {
  return JSON.parse(JSON.stringify(showConfig(present)));
}
