/** Projects: applications of builders. A project is the tenant to which all other data belongs. */
import { z } from 'zod';
import type { Row } from '../../../database/statements/tables.ts';
import { id, newId } from '../../../kernel/ids.ts';
import { hasPlainHost } from '../../../settings/setting-kinds.ts';
import type { Call } from '../../access/call.ts';
import { orgMutation, projectMutation } from '../../access/declared-mutation.ts';
import { projectRead, read } from '../../access/declared-read.ts';
import { getProjectOfInput } from '../../access/input-project.ts';
import { allowedOrigins } from '../../access/origins.ts';
import type { PageArgs } from '../../access/paging/page.ts';
import { listPage } from '../../access/paging/page-of-rows.ts';
import { requireUnique } from '../../access/row-changes.ts';
import { findProject, listOrgIds, toOrgCondition } from '../../access/scope.ts';
import { ADMIN, orEndUser } from '../../access/viewer/needs.ts';
import { findProjectId } from '../../access/viewer/viewer.ts';
import { label, projectIdOrName, projectName } from '../../base/names.ts';
import { computed, createdFields, idField, resource, updateTime } from '../../base/resource.ts';

const URL_LENGTH_MAX = 2_048;
/** The maximum length of a language tag. No registered tag with all of its subtags is as long. */
const TAG_LENGTH_MAX = 64;

/** The values of the appearance. A project's document has them too. */
export const branding = {
  logoUrl: z
    .url({ protocol: /^https$/, error: 'must be an https URL.' })
    .max(URL_LENGTH_MAX)
    .refine(
      hasPlainHost,
      'must have a host that is a DNS name, localhost or an IP address, and no user info.',
    ),
  accentColor: z
    .string()
    .regex(/^#[0-9a-fA-F]{6}$/, 'must be a color like #4f46e5: a # and six hexadecimal digits.')
    .transform((color) => color.toLowerCase()),
  locale: z
    .string()
    .max(TAG_LENGTH_MAX)
    .refine(isLanguageTag, 'must be a BCP 47 language tag, like en-GB or de.')
    .transform((tag) => Intl.getCanonicalLocales(tag)[0] as string),
};

/** The members of a project's input that set the appearance. Null clears a value. */
const brandingInput = {
  logoUrl: branding.logoUrl
    .nullish()
    .describe(
      `The https URL of the logo on the connect page, at most ${URL_LENGTH_MAX} characters; null for none. Browsers of customers load it.`,
    ),
  accentColor: branding.accentColor
    .nullish()
    .describe(
      'The color of buttons and links on the connect page, like `#4f46e5`; null for the default color. The page makes it darker or lighter where texts would be hard to read.',
    ),
  locale: branding.locale
    .nullish()
    .describe(
      "The language of the connect page as a BCP 47 tag, like `de` or `en-GB`, with the form of its times and numbers; null for the language of the customer's browser. The page has texts in English and German, and uses English for other languages.",
    ),
};

function isLanguageTag(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length === 1;
  } catch {
    return false;
  }
}

type Project = Row<'Project'>;

const booleanEntitlementResource = resource(
  'BooleanEntitlement',
  'A feature that a billing plan may include.',
  {
    value: z.boolean().describe('Whether the billing plan includes the feature.'),
  },
);

export const entitlementsResource = resource(
  'Entitlements',
  "The features of a project's billing plan. The operator sets them.",
  {
    brandingRemoval: computed(
      booleanEntitlementResource.describe(
        "Whether the connect pages for end users may omit the platform's name.",
      ),
      ({ brandingRemoval }: { brandingRemoval: boolean }) => ({ value: brandingRemoval }),
    ),
  },
);

export const projectResource = resource(
  'Project',
  'An application of a builder: the tenant that everything else belongs to.',
  {
    ...createdFields,
    name: z.string().describe('Unique in the whole service, in lower case.'),
    appName: z.string().describe('The name of the app, which end users see when they connect.'),
    orgId: idField.describe('The id of the org that owns it.'),
    entitlements: computed(
      entitlementsResource.describe("The features of the project's billing plan."),
      (project: Row<'Project'>) => project,
    ),
    allowedOrigins: z
      .array(z.string())
      .describe('Origins whose pages may call the gateway with tokens of its end users.'),
    logoUrl: z
      .string()
      .nullable()
      .describe('The https URL of the logo on the connect page. {Null} without one.'),
    accentColor: z
      .string()
      .nullable()
      .describe('The color of the connect page, like `#4f46e5`. {Null} for the default color.'),
    locale: z
      .string()
      .nullable()
      .describe(
        "The language of the connect page as a BCP 47 tag, like `de`. {Null} for the language of the customer's browser.",
      ),
    updateTime,
  },
);

const name = projectName.describe(
  '2 to 128 letters, digits and hyphens, unique in the whole service; stored in lower case.',
);
export const appName = label.describe(
  'The name of the app, which end users see when they connect. 1 to 128 characters.',
);

const createProjectInput = z
  .object({ name, appName, orgId: id.describe('The id of the org that owns it.') })
  .meta({ id: 'CreateProjectInput', description: 'The project to create.' });

const updateProjectInput = z
  .object({
    projectIdOrName,
    name: name.optional(),
    appName: appName.optional(),
    allowedOrigins: allowedOrigins.optional(),
    ...brandingInput,
  })
  .meta({
    id: 'UpdateProjectInput',
    description: 'The new values of a project. Omitted fields keep their values.',
  });

/** Returns null if the viewer sees no such project. Without an id or a name, returns the viewer's only project. */
export const findRequestedProject = read(
  orEndUser('read'),
  'A project by its id or name; null if it does not exist or the caller may not see it. Without an argument, the only project of the caller.',
  async (call: Call, idOrName: string | null | undefined): Promise<Project | null> => {
    return idOrName == null ? getProjectOfInput(call, {}, 'idOrName') : findProject(call, idOrName);
  },
);

/** Throws NOT_FOUND if the viewer may not see the project. */
export const getRequestedProject = projectRead(
  orEndUser('read'),
  'Returns a project by id or name.',
  (_call, _input: unknown, project) => project,
);

export const listProjects = read(
  orEndUser('read'),
  "Lists the projects that the caller may see, newest first: the project of an API key or an end user, or all projects of a builder's orgs.",
  (call: Call, args: PageArgs) => {
    const { viewer } = call;
    const projectId = findProjectId(viewer);
    const where = projectId === null ? { orgId: listOrgIds(viewer) } : { id: projectId };
    return listPage(call, { name: 'Query.projects', table: 'Project', where }, args);
  },
);

export const listOrgProjects = read(
  'org:read',
  'Lists the projects of an org that the caller may see, newest first.',
  (call: Call, org: Row<'Org'>, args: PageArgs) => {
    const { viewer } = call;
    const id = findProjectId(viewer);
    const idCondition = id === null ? {} : { id };
    return listPage(
      call,
      {
        name: 'Org.projects',
        parentId: org.id,
        table: 'Project',
        where: { orgId: toOrgCondition(viewer, org), ...idCondition },
      },
      args,
    );
  },
);

export const createProject = orgMutation({
  description: 'Creates a project in an org of the caller.',
  needs: ADMIN,
  input: createProjectInput,
  run({ database }, { orgId, name, appName }): Promise<Project> {
    const projectId = newId('prj');
    const data = { id: projectId, orgId, name, appName, eventLog: { create: {} } };
    return requireUnique(database.prisma.project.create({ data }), describeTakenName(name));
  },
});

export const updateProject = projectMutation({
  description:
    'Updates the names, the allowed origins or the appearance of the connect page of a project. Omitted fields keep their values.',
  needs: 'full',
  input: updateProjectInput,
  async run(call, { projectIdOrName: _project, ...changes }, project): Promise<Project> {
    if (Object.values(changes).every((value) => value === undefined)) return project;
    const data = { ...changes, updateTime: call.now() };
    const where = { id: project.id };
    return requireUnique(
      call.database.prisma.project.update({ where, data }),
      describeTakenName(changes.name ?? ''),
    );
  },
});

function describeTakenName(name: string): string {
  return `The project name ${name} is taken.`;
}
