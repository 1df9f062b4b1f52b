/** Changes of the present config of an installation that are told in the form that the platform writes it in. */
import type { z } from 'zod';
import { getInstallationOf } from '../../../domain/installation/installation.ts';
import type { ConfigContent } from '../../../domain/installation/installation-config.ts';
import {
  updateInstallation,
  updateOfPresentConfig,
} from '../../../domain/installation/installation-update.ts';
import { issuesOf } from '../../../domain/issues.ts';
import { invalidInput } from '../../../errors.ts';
import type { RestRequest } from '../../endpoint/endpoint.ts';
import type { Places } from '../../endpoint/places.ts';
import { errorInRequest } from '../../endpoint/rest-errors.ts';
import { configInput, type WireConfig } from './config-shape.ts';
import { showConfig } from './show-config.ts';
import { placeInConfig, takeConfig } from './take-config.ts';

interface Revision {
  key: { projectIdOrName: string; integrationIdOrName: string; installationId: string };
  /** What else is changed. */
  beside?: { connectionId?: string; configCreatedBy?: string; skipSampling?: boolean };
  /** Makes the new config of the present one; left out if that stays. */
  revise?: (present: WireConfig) => unknown;
  /** Where the config and its members are in the request, for what is found wrong with them. */
  placeOf(place: string): string;
}

/** Throws NOT_FOUND, also for an installation of another integration, and BAD_USER_INPUT with places in the request. */
export async function reviseInstallation(
  { call }: RestRequest,
  { key, beside, revise, placeOf }: Revision,
) {
  await getInstallationOf(call, key);
  const { projectIdOrName, installationId } = key;
  const input = { projectIdOrName, installationId, skipSampling: false, ...beside };
  if (!revise) return updateInstallation(call, input);
  let wire: WireConfig = {};
  const next = (present: ConfigContent) => {
    const { data, error } = configInput.safeParse(revise(presentConfig(present)));
    if (error) throw invalidInput(placed(error, placeOf));
    wire = data;
    return takeConfig(wire);
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
  return issuesOf(error, undefined).map((issue) => ({
    ...issue,
    name: placeOf(issue.name && `.${issue.name}`),
  }));
}
