/** Bundles the console and the connect page: relative URLs, no inline script, no external resources. */
import { join } from 'node:path';
import { defineConfig, type Plugin } from 'vite';

const root = import.meta.dirname;

export default defineConfig({
  root,
  // A proxy may serve the page below a path, so the URLs of assets are relative to the page.
  base: './',
  plugins: [createOperationsPlugin()],
  build: {
    target: 'es2022',
    // Small files are not inlined, because data URLs would need an entry in the Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      // Directives like "use client" have no meaning in a bundle.
      onLog: (level, log, defaultHandler) => {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') defaultHandler(level, log);
      },
      input: {
        console: join(root, 'index.html'),
        connect: join(root, 'connect.html'),
        graphiql: join(root, 'graphiql.html'),
      },
    },
  },
});

const TAG = /\bgraphql`\s*(?:query|mutation|subscription|fragment)\s+(\w+)[^`]*`/g;

/** Replaces the text of an operation with relay-compiler's output, as Relay's own Babel plugin does. */
function createOperationsPlugin(): Plugin {
  return {
    name: 'compiled-operations',
    enforce: 'pre',
    transform(code, id) {
      if (!/\.tsx?$/.test(id) || !code.includes('graphql`')) return null;
      const names = new Set<string>();
      const replaced = code.replace(TAG, (_text, name: string) => {
        names.add(name);
        return `compiled_${name}`;
      });
      const imports = [...names].map((name) => {
        const path = join(root, '__generated__', `${name}.graphql.ts`);
        return `import compiled_${name} from ${JSON.stringify(path)};`;
      });
      return { code: `${imports.join('')}${replaced}`, map: null };
    },
  };
}
