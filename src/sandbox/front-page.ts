import { createHtmlPage, type Html, html } from '../kernel/html.ts';
import { OBJECT_NAMES } from './records/objects.ts';
import { createRecordView } from './records/record-view.ts';
import type { RecordTable } from './records/table.ts';
import type { Workspace } from './records/workspace.ts';
import type { SandboxRoute } from './router.ts';

const RECORDS_MAX = 10;

interface FrontPageServices {
  workspace: Workspace;
  desk: Workspace;
}

/** Creates the route `GET /`, a page with the newest records of the CRM and the help desk. */
export function createFrontPageRoute({ workspace, desk }: FrontPageServices): SandboxRoute {
  return {
    method: 'GET',
    pattern: '/',
    handle() {
      const crmSections = OBJECT_NAMES.map((name) =>
        renderSection(
          workspace.getTable(name),
          html`<a href="/objects/${name}">Fields</a> <a href="/objects/${name}/records">Records</a>`,
        ),
      );
      const deskSection = renderSection(
        desk.getTable('people'),
        html`<a href="/desk/people">Records</a>`,
      );
      const content = html`<p>A CRM and a help desk to try integrations with. They are in memory:
        restarting the sandbox empties it. <a href="/objects">The objects of the CRM</a> as JSON.</p>
        ${crmSections}${deskSection}`;
      return { status: 200, html: createHtmlPage('Sandbox CRM', content) };
    },
  };
}

function renderSection(table: RecordTable, links: Html): Html {
  const { displayName, fields } = table.definition;
  const headerCells = fields.map((field) => html`<th>${field.displayName}</th>`);
  const views = table.listNewest(RECORDS_MAX).map(createRecordView(table.definition));
  const rows = views.map((view) => {
    return html`<tr>${fields.map((field) => html`<td>${formatCell(view[field.name])}</td>`)}</tr>`;
  });
  return html`<h2>${displayName}: ${table.size}</h2>
    <p>${links}</p>
    <table><thead><tr>${headerCells}</tr></thead><tbody>${rows}</tbody></table>`;
}

function formatCell(value: unknown): string {
  return value === null ? '' : String(value);
}
