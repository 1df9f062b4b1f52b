import { type Html, html, page } from '../html.ts';
import { OBJECT_NAMES, type ObjectDefinition } from './records/objects.ts';
import { recordView } from './records/record-view.ts';
import type { StoredRecord } from './records/table.ts';
import type { Workspace } from './records/workspace.ts';
import type { Route } from './router.ts';

const SHOWN_RECORDS = 10;

/** `GET /`: what the sandbox holds, for people. */
export function frontPageRoute(workspace: Workspace): Route {
  return {
    method: 'GET',
    pattern: '/',
    answer() {
      const sections = OBJECT_NAMES.map((name) => {
        const table = workspace.getTable(name);
        return section(table.definition, table.size, table.newest(SHOWN_RECORDS));
      });
      const content = html`<p>A CRM to try integrations with. It is in memory: restarting it
        empties it. <a href="/objects">Its objects</a> as JSON.</p>${sections}`;
      return { status: 200, html: page('Sandbox CRM', content) };
    },
  };
}

function section(definition: ObjectDefinition, size: number, records: StoredRecord[]): Html {
  const { name, displayName, fields } = definition;
  const heads = fields.map((field) => html`<th>${field.displayName}</th>`);
  const rows = records.map(recordView(definition)).map((view) => {
    return html`<tr>${fields.map((field) => html`<td>${shown(view[field.name])}</td>`)}</tr>`;
  });
  return html`<h2>${displayName}: ${size}</h2>
    <p><a href="/objects/${name}">Fields</a> <a href="/objects/${name}/records">Records</a></p>
    <table><thead><tr>${heads}</tr></thead><tbody>${rows}</tbody></table>`;
}

function shown(value: unknown): string {
  return value === null ? '' : String(value);
}
