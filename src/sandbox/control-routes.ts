import { z } from 'zod';
import { type Faults, faultSchema } from './faults.ts';
import { OBJECT_NAMES } from './records/objects.ts';
import type { Seeder } from './records/seed.ts';
import { RECORDS_PER_OBJECT_MAX } from './records/workspace.ts';
import { jsonBody, parsed } from './request.ts';
import type { Route } from './router.ts';
import { type Settings, settingsSchema } from './settings.ts';

const seedSchema = z.strictObject({
  objectName: z.enum(OBJECT_NAMES),
  count: z.int().min(1).max(RECORDS_PER_OBJECT_MAX),
});

interface Parts {
  faults: Faults;
  settings: Settings;
  seeder: Seeder;
}

/** The controls of the sandbox itself: no part of the imitated service, so faults never apply to them. */
export function controlRoutes({ faults, settings, seeder }: Parts): Route[] {
  return [
    {
      method: 'PUT',
      pattern: '/control/faults',
      answer(request) {
        const fault = parsed(faultSchema, jsonBody(request));
        faults.set(fault);
        return { status: 200, json: fault };
      },
    },
    {
      method: 'DELETE',
      pattern: '/control/faults',
      answer() {
        faults.clear();
        return { status: 204 };
      },
    },
    {
      method: 'PUT',
      pattern: '/control/settings',
      answer(request) {
        Object.assign(settings, parsed(settingsSchema.partial(), jsonBody(request)));
        return { status: 200, json: settings };
      },
    },
    {
      method: 'POST',
      pattern: '/control/seed',
      answer(request) {
        const { objectName, count } = parsed(seedSchema, jsonBody(request));
        seeder.seed(objectName, count);
        return { status: 201, json: { objectName, count } };
      },
    },
  ];
}
