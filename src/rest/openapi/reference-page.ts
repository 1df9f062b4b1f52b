/** The reference page at /v1/docs: Swagger UI from this server, which loads nothing from outside. */
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { BASE_PATH } from './openapi.ts';

/** Allows the page's own files, and the styles and images that Swagger UI inserts. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self'",
  "img-src 'self' data:",
  "style-src 'self' 'unsafe-inline'",
  "base-uri 'self'",
  "object-src 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Applies the theme that the reader chose in the console. Default: the system's theme. */
const THEME_SCRIPT = `
const isDark = matchMedia('(prefers-color-scheme: dark)');
const apply = () => {
  const theme = localStorage.getItem('gateway.theme') ?? (isDark.matches ? 'dark' : 'light');
  document.documentElement.classList.toggle('dark-mode', theme === 'dark');
};
isDark.addEventListener('change', apply);
apply();
`;

export async function registerPage(app: FastifyInstance): Promise<void> {
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    indexPrefix: BASE_PATH,
    staticCSP: CONTENT_SECURITY_POLICY,
    theme: {
      title: 'Integration gateway',
      js: [{ filename: 'theme.js', content: THEME_SCRIPT }],
    },
    uiConfig: {
      // Removes the bar that could load another server's document.
      layout: 'BaseLayout',
      // Collapses the tags. With 150 open rows or more, Swagger UI draws only those in view, and the browser's search
      // misses the other rows.
      docExpansion: 'none',
      tryItOutEnabled: true,
    },
  });
}
