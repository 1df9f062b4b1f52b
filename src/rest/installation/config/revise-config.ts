/** Changes of the present config of an installation, in the reference API's form. */
import { getInstallationByKey } from '../../../domain/installation/installation.ts';
import type {
  ConfigContent,
  ConfigInput,
} from '../../../domain/installation/installation-config.ts';
import {
  updateInstallation,
  updateOfPresentConfig,
} from '../../../domain/installation/installation-update.ts';
import type { IntegrationKey } from '../../../domain/integration/integration.ts';
import { createInputIssue, toIssues } from '../../../domain/issues.ts';
import { invalidInput } from '../../../errors.ts';
import type { RestRequest } from '../../endpoint/endpoint.ts';
import { type Location, type Locations, locateError } from '../../endpoint/locations.ts';
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
  if (issues.length > 0) throw invalidInput(issues, { ...suggestNames(issues, ALLOWED_PATHS) });
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
  const revision = new ConfigRevision(revise, locate);
  try {
    return await updateOfPresentConfig((present) => revision.apply(present))(call, input);
  } catch (error) {
    throw locateError(revision.locations, error);
  }
}

/** A change of the present config. Its issues are located in the request by the names of the revised config. */
class ConfigRevision {
  readonly #revise: (present: WireConfig) => unknown;
  readonly #locate: (location: string) => string;
  /** The result of the last `apply`. The domain calls it before its transaction and again in it. */
  #revisedConfig: WireConfig = {};

  constructor(revise: (present: WireConfig) => unknown, locate: (location: string) => string) {
    this.#revise = revise;
    this.#locate = locate;
  }

  /** Returns the revised config in the domain's form. Throws BAD_USER_INPUT if it is invalid. */
  apply(present: ConfigContent): ConfigInput {
    const { data, error } = configInput.safeParse(this.#revise(toWire(present)));
    if (error) {
      const issues = toIssues(error, undefined);
      const locateName = (name: string) => this.#locate(name && `.${name}`);
      throw invalidInput(issues.map((issue) => ({ ...issue, name: locateName(issue.name) })));
    }
    this.#revisedConfig = data;
    return parseConfig(data);
  }

  get locations(): Locations {
    return new Map<string, Location>([
      [
        'config',
        {
          in: 'body',
          name: '',
          locateInside: (rest) => this.#locate(locateInConfig(this.#revisedConfig, rest)),
        },
      ],
      ['connectionId', { in: 'body', name: 'installation.connectionId' }],
    ]);
  }
}

/** Returns the config as callers see it, without members that are undefined. */
function toWire(present: ConfigContent): WireConfig {
  return JSON.parse(JSON.stringify(showConfig(present)));
}
