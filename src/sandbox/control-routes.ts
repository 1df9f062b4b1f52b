import { z } from 'zod';
import { type Faults, faultSchema } from './faults.ts';
import { TABLE_NAMES } from './records/objects.ts';
import type { Seeder } from './records/seed.ts';
import { RECORDS_PER_OBJECT_MAX } from './records/workspace.ts';
import { parseInput, parseJsonBody } from './request.ts';
import type { SandboxRoute } from './router.ts';
import { type Settings, settingsSchema } from './settings.ts';

const seedSchema = z.strictObject({
  objectName: z.enum(TABLE_NAMES),
  count: z.int().min(1).max(RECORDS_PER_OBJECT_MAX),
});

interface ControlServices {
  faults: Faults;
  settings: Settings;
  seeder: Seeder;
}

/** Creates the routes that control the sandbox. They need no credentials, and injected faults do not affect them. */
export function createControlRoutes({ faults, settings, seeder }: ControlServices): SandboxRoute[] {
  return [
    {
      method: 'PUT',
      pattern: '/control/faults',
      handle(request) {
        const fault = parseInput(faultSchema, parseJsonBody(request));
        faults.set(fault);
        return { status: 200, json: fault };
      },
    },
    {
      method: 'DELETE',
      pattern: '/control/faults',
      handle() {
        faults.clear();
        return { status: 204 };
      },
    },
    {
      method: 'PUT',
      pattern: '/control/settings',
      handle(request) {
        Object.assign(settings, parseInput(settingsSchema.partial(), parseJsonBody(request)));
        return { status: 200, json: settings };
      },
    },
    {
      method: 'POST',
      pattern: '/control/seed',
      handle(request) {
        const { objectName, count } = parseInput(seedSchema, parseJsonBody(request));
        seeder.seed(objectName, count);
        return { status: 201, json: { objectName, count } };
      },
    },
  ];
}
