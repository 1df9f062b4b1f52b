/** Builds HTML pages that load no scripts, fonts or images. */

/** Markup that `html` does not escape. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Interpolation = string | number | Html | Html[];

/** Template tag that escapes every value except Html. */
export function html(strings: TemplateStringsArray, ...parts: Interpolation[]): Html {
  return new Html(
    strings.reduce((markup, string, index) => markup + toText(parts[index - 1]) + string),
  );
}

function toText(part: Interpolation | undefined): string {
  if (part instanceof Html) return part.text;
  if (Array.isArray(part)) return part.map(({ text }) => text).join('');
  return String(part ?? '').replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const STYLE = new Html(`
  body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem }
  table { border-collapse: collapse; display: block; overflow-x: auto; width: 100% }
  th, td { border-bottom: 1px solid #ccc; padding: .3rem .6rem; text-align: left; white-space: nowrap }
  button { font: inherit; padding: .4rem 1.2rem }
`);

export function createHtmlPage(title: string, content: Html): string {
  return html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${title}</title><style>${STYLE}</style></head>
<body><h1>${title}</h1>${content}</body>
</html>
`.text;
}
