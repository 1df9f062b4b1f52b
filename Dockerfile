# The gateway without what only builds it: docs/operations/install.md says how it is run.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json tsconfig.json schema.prisma prisma.config.ts schema.graphql ./
COPY docs/provider.schema.json docs/
COPY console console
COPY src src
COPY scripts/compress.ts scripts/install-production.sh scripts/
# Node is the image's own.
RUN scripts/install-production.sh --without-node

# The documentation site, by packages of its own.
FROM node:24-bookworm-slim AS docs
WORKDIR /app
COPY . .
RUN npm run docs

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 DATA_DIR=/data PATH=/app/bin:$PATH
WORKDIR /app
COPY --from=build /app/package.json /app/schema.graphql ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/console/dist console/dist
COPY --from=build /app/console/common console/common
COPY --from=build /app/src src
COPY --from=docs /app/docs/dist docs/dist
COPY migrations migrations
# The command `gateway`.
RUN mkdir bin && ln -s ../src/commands/gateway.ts bin/gateway
RUN mkdir /data && chown 1000:1000 /data
VOLUME /data
USER 1000:1000
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "src/main.ts"]
