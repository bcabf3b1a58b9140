/** The interface as types. Made by `npm run openapi` of docs/openapi.json; a test holds it to the server. */
export interface paths {
    "/v1/actors/{actorId}/chart": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an actor on its chart */
        get: operations["actors.chart"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/actors/{actorId}/steps": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List an actor's steps */
        get: operations["actors.steps"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List agents */
        get: operations["agents.list"];
        put?: never;
        /** Create an agent */
        post: operations["agents.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agentId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an agent */
        get: operations["agents.get"];
        put?: never;
        post?: never;
        /** Archive an agent */
        delete: operations["agents.archive"];
        options?: never;
        head?: never;
        /** Change an agent */
        patch: operations["agents.update"];
        trace?: never;
    };
    "/v1/agents/{agentId}/events/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Follow an agent */
        get: operations["streams.agent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agentId}/images": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List an agent's images */
        get: operations["images.list"];
        put?: never;
        /** Upload an image */
        post: operations["images.upload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agentId}/memory": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List an agent's memory */
        get: operations["memory.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agentId}/memory/entry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an entry of an agent's memory */
        get: operations["memory.get"];
        /** Write an entry of an agent's memory */
        put: operations["memory.put"];
        post?: never;
        /** Delete an entry of an agent's memory */
        delete: operations["memory.delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agentId}/memory/entry/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List versions of an entry of an agent's memory */
        get: operations["memory.versions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agentId}/memory/entry/versions/{versionId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a version of an entry of an agent's memory */
        get: operations["memory.version"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agentId}/memory/entry/versions/{versionId}/redact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Redact a version of an entry of an agent's memory */
        post: operations["memory.redact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agentId}/memory/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Search an agent's memory */
        get: operations["memory.search"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agentId}/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List schedules */
        get: operations["schedules.list"];
        put?: never;
        /** Create a schedule */
        post: operations["schedules.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agentId}/schedules/{scheduleId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a schedule */
        get: operations["schedules.get"];
        put?: never;
        post?: never;
        /** Delete a schedule */
        delete: operations["schedules.delete"];
        options?: never;
        head?: never;
        /** Change a schedule */
        patch: operations["schedules.update"];
        trace?: never;
    };
    "/v1/agents/{agentId}/schedules/{scheduleId}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Run a schedule now */
        post: operations["schedules.run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agentId}/schedules/{scheduleId}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List runs */
        get: operations["schedules.runs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agentId}/subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create a subscription */
        post: operations["subscriptions.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/approval-policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the approval policy */
        get: operations["approvals.getPolicy"];
        /** Replace the approval policy */
        put: operations["approvals.putPolicy"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get the credential in use */
        get: operations["auth.context"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List API keys */
        get: operations["auth.listKeys"];
        put?: never;
        /** Create an API key */
        post: operations["auth.createKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/keys/{keyId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an API key */
        get: operations["auth.getKey"];
        put?: never;
        post?: never;
        /** Revoke an API key */
        delete: operations["auth.revokeKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/auth/keys/{keyId}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Rotate an API key */
        post: operations["auth.rotateKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/charts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the charts */
        get: operations["charts.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/charts/{kind}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a chart */
        get: operations["charts.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/connections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List connections */
        get: operations["connections.list"];
        put?: never;
        /** Create a connection */
        post: operations["connections.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/connections/{connectionId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a connection */
        get: operations["connections.get"];
        put?: never;
        post?: never;
        /** Delete a connection */
        delete: operations["connections.delete"];
        options?: never;
        head?: never;
        /** Change a connection */
        patch: operations["connections.update"];
        trace?: never;
    };
    "/v1/events/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Follow the workspace */
        get: operations["streams.workspace"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/feeds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List feeds */
        get: operations["feeds.list"];
        put?: never;
        /** Create a feed */
        post: operations["feeds.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/feeds/{feedId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a feed */
        get: operations["feeds.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /** Change a feed */
        patch: operations["feeds.update"];
        trace?: never;
    };
    "/v1/feeds/{feedId}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Archive a feed */
        post: operations["feeds.archive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/feeds/{feedId}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read messages */
        get: operations["feeds.read"];
        put?: never;
        /** Append messages */
        post: operations["feeds.append"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/hooks/decisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List decisions of hooks */
        get: operations["hooks.decisions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/hooks/deliveries/{deliveryId}/decision": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answer an ask late */
        post: operations["hooks.decide"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/hooks/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Try a hook on a sample */
        post: operations["hooks.test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/hooks/waits/{waitId}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Decide what a hook or a role asks */
        post: operations["hooks.resolveWait"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/identities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List identities */
        get: operations["identities.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/identities/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Disable an identity */
        post: operations["identities.disable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/identities/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Enable an identity */
        post: operations["identities.enable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/images/{imageId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an image's bytes */
        get: operations["images.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/limits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the workspace's limits */
        get: operations["limits.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memory": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the workspace's memory */
        get: operations["sharedMemory.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memory/entry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an entry of the workspace's memory */
        get: operations["sharedMemory.get"];
        /** Write an entry of the workspace's memory */
        put: operations["sharedMemory.put"];
        post?: never;
        /** Delete an entry of the workspace's memory */
        delete: operations["sharedMemory.delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memory/entry/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List versions of an entry of the workspace's memory */
        get: operations["sharedMemory.versions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memory/entry/versions/{versionId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a version of an entry of the workspace's memory */
        get: operations["sharedMemory.version"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memory/entry/versions/{versionId}/redact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Redact a version of an entry of the workspace's memory */
        post: operations["sharedMemory.redact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memory/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Search the workspace's memory */
        get: operations["sharedMemory.search"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/models": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List models */
        get: operations["models.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the nodes of the installation */
        get: operations["nodes.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List operations */
        get: operations["operations.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operations/{operationId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an operation */
        get: operations["operations.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operations/{operationId}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Approve an operation */
        post: operations["operations.approve"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operations/{operationId}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel an operation */
        post: operations["operations.cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/operations/{operationId}/deny": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Deny an operation */
        post: operations["operations.deny"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/profiles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List profiles */
        get: operations["profiles.list"];
        put?: never;
        /** Create a profile */
        post: operations["profiles.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/profiles/{profileId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a profile */
        get: operations["profiles.get"];
        put?: never;
        post?: never;
        /** Archive a profile */
        delete: operations["profiles.archive"];
        options?: never;
        head?: never;
        /** Change a profile */
        patch: operations["profiles.update"];
        trace?: never;
    };
    "/v1/profiles/{profileId}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the versions of a profile */
        get: operations["profiles.versions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/profiles/{profileId}/versions/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a version of a profile */
        get: operations["profiles.version"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/roles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List roles */
        get: operations["roles.list"];
        put?: never;
        /** Create a role */
        post: operations["roles.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/roles/{roleId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a role */
        get: operations["roles.get"];
        put?: never;
        post?: never;
        /** Delete a role */
        delete: operations["roles.delete"];
        options?: never;
        head?: never;
        /** Change a role */
        patch: operations["roles.update"];
        trace?: never;
    };
    "/v1/roles/evaluate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Explain a decision */
        post: operations["roles.evaluate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List subscriptions */
        get: operations["subscriptions.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions/{subscriptionId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a subscription */
        get: operations["subscriptions.get"];
        put?: never;
        post?: never;
        /** Delete a subscription */
        delete: operations["subscriptions.delete"];
        options?: never;
        head?: never;
        /** Change a subscription */
        patch: operations["subscriptions.update"];
        trace?: never;
    };
    "/v1/subscriptions/{subscriptionId}/evaluate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Try a subscription on a sample */
        post: operations["subscriptions.evaluate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/subscriptions/{subscriptionId}/evaluations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List evaluations */
        get: operations["subscriptions.evaluations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List threads */
        get: operations["threads.list"];
        put?: never;
        /** Create a thread */
        post: operations["threads.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{threadId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a thread */
        get: operations["threads.get"];
        put?: never;
        post?: never;
        /** Delete an archived thread */
        delete: operations["threads.delete"];
        options?: never;
        head?: never;
        /** Change a thread's title, metadata or maxCost */
        patch: operations["threads.update"];
        trace?: never;
    };
    "/v1/threads/{threadId}/archive": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Archive a thread */
        post: operations["threads.archive"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{threadId}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel the running turn */
        post: operations["threads.cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{threadId}/compact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Summarise before the next model call */
        post: operations["threads.compact"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{threadId}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List a thread's events */
        get: operations["events.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{threadId}/events/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Follow a thread */
        get: operations["streams.thread"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{threadId}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Submit a message */
        post: operations["messages.submit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{threadId}/queue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the queue */
        get: operations["queue.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{threadId}/queue/{inputId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get an input */
        get: operations["queue.get"];
        put?: never;
        post?: never;
        /** Remove a pending input */
        delete: operations["queue.remove"];
        options?: never;
        head?: never;
        /** Edit a pending input */
        patch: operations["queue.edit"];
        trace?: never;
    };
    "/v1/threads/{threadId}/queue/{inputId}/promote": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Promote a pending input */
        post: operations["queue.promote"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{threadId}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Retry the last failed or cancelled turn */
        post: operations["threads.retry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{threadId}/turns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List a thread's turns */
        get: operations["threads.turns"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{threadId}/waits/{waitId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a wait */
        get: operations["waits.get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{threadId}/waits/{waitId}/resolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answer a wait: approve, deny, or give a result */
        post: operations["waits.resolve"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tools/calls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List calls that clients have to execute */
        get: operations["tools.calls"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tools/calls/{toolCallId}/result": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Give the result of a call */
        post: operations["tools.result"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/toolsets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List toolsets */
        get: operations["toolsets.list"];
        put?: never;
        /** Register a toolset */
        post: operations["toolsets.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/toolsets/{toolsetId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a toolset */
        get: operations["toolsets.get"];
        put?: never;
        post?: never;
        /** Delete a toolset */
        delete: operations["toolsets.delete"];
        options?: never;
        head?: never;
        /** Change a toolset */
        patch: operations["toolsets.update"];
        trace?: never;
    };
    "/v1/toolsets/{toolsetId}/refresh": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ask a toolset's server again */
        post: operations["toolsets.refresh"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/toolsets/{toolsetId}/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the tools of a toolset */
        get: operations["toolsets.tools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Sum up what models were used for */
        get: operations["usage.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List webhooks */
        get: operations["webhooks.list"];
        put?: never;
        /** Create a webhook */
        post: operations["webhooks.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhookId}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Get a webhook */
        get: operations["webhooks.get"];
        put?: never;
        post?: never;
        /** Delete a webhook */
        delete: operations["webhooks.delete"];
        options?: never;
        head?: never;
        /** Change a webhook */
        patch: operations["webhooks.update"];
        trace?: never;
    };
    "/v1/webhooks/{webhookId}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List deliveries */
        get: operations["webhooks.deliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhookId}/deliveries/{webhookDeliveryId}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send one again */
        post: operations["webhooks.redeliver"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhookId}/resend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send failed deliveries again */
        post: operations["webhooks.resend"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhookId}/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Rotate the secret */
        post: operations["webhooks.rotate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhookId}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send a test */
        post: operations["webhooks.test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Actor: {
            /**
             * Format: int64
             * @description How often a node has taken it.
             */
            epoch: number;
            /** @description Id of the actor. */
            id: string;
            /** @description Kind of the actor. */
            kind: string;
            /**
             * Format: int64
             * @description Seq of its last event.
             */
            lastSeq: number;
            /** @description A node lives with it. */
            live: boolean;
            /** @description The node that lives with it: for keys with the scope admin. */
            node?: string;
            /**
             * Format: int64
             * @description Position of the last fact in its log.
             */
            pos: number;
            /**
             * Format: date-time
             * @description From when it has something to do. Absent at rest.
             */
            runnableAt?: string;
            /** @description Its status, as of now. */
            status: string;
        };
        ActorChart: {
            /** @description The actor, as of now. */
            actor: components["schemas"]["Actor"];
            /** @description The chart, as `/v1/charts/{kind}` shows it. */
            chart: {
                /** @description The chart that it runs by. */
                kind: string;
                /** @description Its version on the node that answers. */
                version: string;
            };
            /** @description The actor's knowledge, without anybody's words: for a thread its `turn` with its calls and, as of now, `pending`. */
            context: Record<string, never>;
            /** @description Work under way in the state. */
            doing: components["schemas"]["ActorDoing"][];
            /** @description Events that may come next. Only as of now. */
            possible?: components["schemas"]["ActorPossible"][];
            /** @description Path of the state. */
            state: string;
            /** @description The step that led there. Absent at birth. */
            step?: components["schemas"]["ActorStep"];
        };
        ActorDoing: {
            /** @description Number of the attempt, or name of the round of compaction. */
            attempt?: number | string;
            /** @description When the wait expires. */
            expiresAt?: string;
            /**
             * Format: int64
             * @description Index of the hook.
             */
            hookIndex?: number;
            /** @description The message that it submits. */
            inputId?: string;
            /**
             * Format: int64
             * @description Number of the subscription's look at its feed.
             */
            look?: number;
            /** @description The model that is asked. */
            modelId?: string;
            /** @description The point at which the hook is asked. */
            point?: string;
            /** @description Id of the schedule's run. */
            runId?: string;
            /**
             * Format: date-time
             * @description Since when.
             */
            since: string;
            /**
             * Format: int64
             * @description Number of the response in the turn.
             */
            step?: number;
            /** @description Who is to answer. */
            target?: string;
            /** @description The thread that it is about. */
            threadId?: string;
            /** @description Id of the call. */
            toolCallId?: string;
            /** @description The tool that runs. */
            toolName?: string;
            /** @description The turn that it is about. */
            turnId?: string;
            /** @description Kind of the work: for a thread `sample`, `summarise`, `runTool`, `askHook`, `pause` or `wait`; for others a job. */
            type: string;
            /** @description When it ends, at the latest. */
            until?: string;
            /**
             * Format: int64
             * @description The version of the subscription that its feed is told of.
             */
            version?: number;
            /** @description Id of the wait. */
            waitId?: string;
        };
        ActorPossible: {
            /** @description An event of the chart. */
            event: string;
            /** @description The guard, or the error's word, that refuses it now. */
            refusedBy?: string;
            /** @description States that it may lead to. Empty where none is left. */
            targets: string[];
        };
        ActorStep: {
            /**
             * Format: date-time
             * @description When it was taken.
             */
            at: string;
            /** @description The event of the chart that it was taken for; `unknown` where an older version has written it. */
            cause: string;
            /** @description Facts that were written, in order. */
            facts: components["schemas"]["StepFact"][];
            /** @description Path of the state that it was left in. */
            from: string;
            /**
             * Format: int64
             * @description Position of its first fact.
             */
            fromPos: number;
            /**
             * Format: int64
             * @description Seq of its first event. Absent without events.
             */
            fromSeq?: number;
            /** @description The states that were entered, in order. Empty where none was. */
            path: string[];
            /**
             * Format: int64
             * @description Position of its last fact in the actor's log.
             */
            pos: number;
            /** @description Path of the state that it led to. */
            to: string;
            /**
             * Format: int64
             * @description Seq of its last event. Absent without events.
             */
            toSeq?: number;
            /** @description The turn that it belongs to. Absent where it belongs to none. */
            turnId?: string;
        };
        ActorStepPage: {
            /** @description Present while more rows remain: passed back as `cursor`, it gives the next page. */
            nextCursor?: string;
            /** @description Steps of this page, in the order asked for. */
            steps: components["schemas"]["ActorStep"][];
        };
        Agent: {
            /**
             * Format: date-time
             * @description Since when it takes no new threads and no new work. Absent while it is active.
             */
            archivedAt?: string;
            /** @description Picture of the agent, such as a URL: kept as it is, for your own interface. */
            avatar?: string;
            /** @description Bound of the agent's spending on models. Absent: no limit. */
            budget?: components["schemas"]["Budget"];
            /**
             * Format: date-time
             * @description When the agent was made.
             */
            createdAt: string;
            /** @description The agent's purpose, in words for people. */
            description?: string;
            /** @description Id of the agent. */
            id: string;
            /** @description Identity that the agent works as. While that is disabled the agent gets no new work. */
            identity?: string;
            /** @description The agent's name, for people. */
            name: string;
            /** @description Profile that the agent follows. */
            profileId: string;
            /**
             * Format: int64
             * @description Version of the profile that the agent stays with. Absent: it follows the latest.
             */
            profileVersion?: number;
            /** @description Labels for your own use, each of them once. */
            tags: string[];
            /**
             * Format: date-time
             * @description When its fields last changed.
             */
            updatedAt: string;
            /** @description Workspace that the agent belongs to. */
            workspaceId: string;
        };
        AgentAnswer: {
            /** @description The agent. */
            agent: components["schemas"]["Agent"];
        };
        AgentInput: {
            /** @description Picture of the agent, such as a URL: kept as it is, for your own interface. At most 2048 bytes of UTF-8. */
            avatar?: string;
            /** @description Bound of the agent's spending on models. Absent: no limit. */
            budget?: components["schemas"]["BudgetInput"];
            /** @description The agent's purpose, in words for people. At most 4096 bytes of UTF-8. */
            description?: string;
            /** @description Identity that the agent works as. While that is disabled the agent gets no new work. At most 512 bytes of UTF-8 without control characters, once surrounding whitespace is trimmed. */
            identity?: string;
            /** @description The agent's name, for people. */
            name: string;
            /** @description Profile that the agent follows. */
            profileId: string;
            /** @description Version of the profile that the agent stays with. Absent: it follows the latest. */
            profileVersion?: number;
            /** @description Labels for your own use, each of them once. */
            tags?: string[];
        };
        AgentPage: {
            /** @description Agents of this page, newest first. */
            agents: components["schemas"]["Agent"][];
            /** @description Present while more rows remain: passed back as `cursor`, it gives the next page. */
            nextCursor?: string;
        };
        AgentPatch: {
            /** @description Picture of the agent, such as a URL: kept as it is, for your own interface. */
            avatar?: string | null;
            /** @description Bound of the agent's spending on models. Absent: no limit. Merged into the budget that the agent has: an agent without one needs both. */
            budget?: {
                /**
                 * Format: double
                 * @description USD that the agent may spend within the window. 0 leaves it only the models that cost nothing.
                 */
                limit?: number;
                /**
                 * @description Over which time spending is added up: the last 24 hours, the last 7 days, or all time.
                 * @enum {string}
                 */
                window?: "24h" | "7d" | "total";
            } | null;
            /** @description The agent's purpose, in words for people. */
            description?: string | null;
            /** @description Identity that the agent works as. While that is disabled the agent gets no new work. */
            identity?: string | null;
            /** @description The agent's name, for people. */
            name?: string;
            /** @description Profile that the agent follows. */
            profileId?: string;
            /** @description Version of the profile that the agent stays with. Absent: it follows the latest. */
            profileVersion?: number | null;
            /** @description Labels for your own use, each of them once. */
            tags?: string[] | null;
        };
        ApiKey: {
            /** @description Agents whose threads a trigger creates, reads and submits to. For kind `trigger` only. */
            agentIds?: string[];
            /**
             * Format: date-time
             * @description When the key was made.
             */
            createdAt: string;
            /** @description Who made the key. Absent for keys that were made on the server's command line. */
            createdBy?: components["schemas"]["Principal"];
            /**
             * Format: date-time
             * @description When the key stops working. Absent: never.
             */
            expiresAt?: string;
            /** @description Feeds that a trigger appends to. For kind `trigger` only; none when absent. */
            feedIds?: string[];
            /** @description Id of the key. It is no secret. */
            id: string;
            /** @description Identity that the key acts as. While that is disabled the key is refused. */
            identity?: string;
            /**
             * @description Type of the principal that requests with the key are recorded under.
             * @enum {string}
             */
            kind: "api_key" | "user" | "trigger";
            /**
             * Format: date-time
             * @description When a request last came with the key, to about a minute. Absent until the first.
             */
            lastUsedAt?: string;
            /** @description The key's name, for people. */
            name: string;
            /**
             * @description The chat provider whose events a trigger brings. For kind `trigger` only.
             * @enum {string}
             */
            provider?: "slack";
            /** @description Rights of the key. Each operation names the scope that it needs; no scope includes another. */
            scopes: ("read" | "run" | "write" | "approve" | "admin")[];
        };
        ApiKeyCreated: {
            /** @description The key without its secret. */
            key: components["schemas"]["ApiKey"];
            /** @description The secret itself: shown here, once, and stored nowhere. */
            token: string;
        };
        ApiKeyFound: {
            /** @description The key without its secret. */
            key: components["schemas"]["ApiKey"];
        };
        ApiKeyInput: {
            /** @description Agents whose threads a trigger creates, reads and submits to. For kind `trigger` only. */
            agentIds?: string[];
            /**
             * Format: date-time
             * @description When the key stops working: in the future, and no later than the end of the key that makes it, which is the default. In the years 0 to 9999 of UTC.
             */
            expiresAt?: string;
            /** @description Feeds that a trigger appends to. For kind `trigger` only; none when absent. */
            feedIds?: string[];
            /** @description Identity that the key acts as. While that is disabled the key is refused. At most 512 bytes of UTF-8 without control characters, once surrounding whitespace is trimmed. */
            identity?: string;
            /**
             * @description Type of the principal that requests with the key are recorded under. `api_key` when absent.
             * @enum {string}
             */
            kind?: "api_key" | "user" | "trigger";
            /** @description The key's name, for people. */
            name: string;
            /**
             * @description The chat provider whose events a trigger brings. For kind `trigger` only.
             * @enum {string}
             */
            provider?: "slack";
            /** @description Rights of the key. Each operation names the scope that it needs; no scope includes another. */
            scopes: ("read" | "run" | "write" | "approve" | "admin")[];
        };
        ApiKeyPage: {
            /** @description Keys of this page, newest first. */
            keys: components["schemas"]["ApiKey"][];
            /** @description Present while more rows remain: passed back as `cursor`, it gives the next page. */
            nextCursor?: string;
        };
        ApprovalPolicy: {
            /** @description The first rule that fits a request decides. */
            rules: components["schemas"]["ApprovalRule"][];
            /**
             * Format: date-time
             * @description When it was last changed. Absent until it first is.
             */
            updatedAt?: string;
            /** @description Who last changed it. Absent until it first is changed. */
            updatedBy?: components["schemas"]["Principal"];
        };
        ApprovalPolicyAnswer: {
            /** @description The rules of this workspace. */
            policy: components["schemas"]["ApprovalPolicy"];
        };
        ApprovalPolicyInput: {
            /** @description The first rule that fits a request decides. */
            rules: components["schemas"]["ApprovalRuleInput"][];
        };
        ApprovalRule: {
            /** @description Actions of the rule: `noun.verb`, `noun.*` for every change of a noun, `*` for every change. Reads are meant only where they are named. */
            actions: ("*" | "agent.*" | "thread.*" | "identity.*" | "memory.*" | "feed.*" | "schedule.*" | "subscription.*" | "agent.read" | "agent.create" | "agent.update" | "agent.archive" | "thread.read" | "identity.disable" | "identity.enable" | "memory.put" | "memory.delete" | "feed.create" | "feed.update" | "feed.archive" | "feed.append" | "schedule.create" | "schedule.update" | "schedule.delete" | "schedule.run" | "subscription.read" | "subscription.create" | "subscription.update" | "subscription.delete")[];
            /** @description Only requests about these agents, or by them. Absent: whatever they are about. */
            agentIds?: string[];
            /** @description Whose requests the rule is about. */
            principals: ("user" | "api_key" | "agent" | "trigger")[];
            /** @description Whether such a request is parked for approval. */
            require: boolean;
        };
        ApprovalRuleInput: {
            /** @description Actions of the rule: `noun.verb`, `noun.*` for every change of a noun, `*` for every change. Reads are meant only where they are named. */
            actions: ("*" | "agent.*" | "thread.*" | "identity.*" | "memory.*" | "feed.*" | "schedule.*" | "subscription.*" | "agent.read" | "agent.create" | "agent.update" | "agent.archive" | "thread.read" | "identity.disable" | "identity.enable" | "memory.put" | "memory.delete" | "feed.create" | "feed.update" | "feed.archive" | "feed.append" | "schedule.create" | "schedule.update" | "schedule.delete" | "schedule.run" | "subscription.read" | "subscription.create" | "subscription.update" | "subscription.delete")[];
            /** @description Only requests about these agents, or by them. Absent: whatever they are about. */
            agentIds?: string[];
            /** @description Whose requests the rule is about. */
            principals: ("user" | "api_key" | "agent" | "trigger")[];
            /** @description Whether such a request is parked for approval. */
            require: boolean;
        };
        AssistantMessageEvent: {
            /** @description Content of a user's or an assistant's message. At most 20 image blocks, with different ids. */
            content: (components["schemas"]["TextBlock"] | components["schemas"]["ImageBlock"])[];
            /** @description Id of the event. */
            eventId: string;
            /**
             * @description Why the model stopped before its answer was whole: `length` where it reached a limit of tokens, `content_filter` where the provider's filter stopped it. Absent for a whole answer. [ext]
             * @enum {string}
             */
            finishReason?: "length" | "content_filter";
            /**
             * Format: int64
             * @description Seq of the newest `user_message` that the model had read.
             */
            inReplyToSeq: number;
            /** @description Model that produced it, as chosen by the runtime. */
            modelId: string;
            /**
             * Format: date-time
             * @description When it was recorded.
             */
            occurredAt: string;
            /**
             * Format: int64
             * @description Position in the thread's log: from 1, without gaps.
             */
            seq: number;
            /** @description Thread whose log it stands in. */
            threadId: string;
            /** @description True when the text was cut, because it was longer than an assistant's message may be. [ext] */
            truncated?: boolean;
            /** @description Turn that it belongs to. */
            turnId: string;
            /**
             * @description Type of the event: it tells the kinds of events apart. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "assistant_message";
        };
        AuthContext: {
            /** @description Agent that a lease was given to. Absent for keys. */
            agentId?: string;
            /**
             * Format: date-time
             * @description When it stops working. Absent: never.
             */
            expiresAt?: string;
            /** @description Who the bearer is taken for. */
            principal: components["schemas"]["Principal"];
            /**
             * @description Kind of the credential.
             * @enum {string}
             */
            scheme: "APIKeyBearer" | "AgentLeaseBearer";
            /** @description Its rights. Empty for a lease: the operations that take one say so. */
            scopes: ("read" | "run" | "write" | "approve" | "admin")[];
            /** @description Thread that a lease was given for. Absent for keys. */
            threadId?: string;
            /** @description Workspace that the credential belongs to. */
            workspaceId: string;
        };
        Budget: {
            /**
             * Format: double
             * @description USD that the agent may spend within the window. 0 leaves it only the models that cost nothing.
             */
            limit: number;
            /**
             * @description Over which time spending is added up: the last 24 hours, the last 7 days, or all time.
             * @enum {string}
             */
            window: "24h" | "7d" | "total";
        };
        BudgetInput: {
            /**
             * Format: double
             * @description USD that the agent may spend within the window. 0 leaves it only the models that cost nothing.
             */
            limit: number;
            /**
             * @description Over which time spending is added up: the last 24 hours, the last 7 days, or all time.
             * @enum {string}
             */
            window: "24h" | "7d" | "total";
        };
        BudgetSpend: {
            /**
             * Format: date-time
             * @description When this was added up.
             */
            generatedAt: string;
            /**
             * Format: double
             * @description USD that the agent has spent on models in the window.
             */
            spent: number;
            /**
             * @description Time that is summed: the budget's window, or the last 24 hours without a budget.
             * @enum {string}
             */
            window: "24h" | "7d" | "total";
        };
        BudgetUse: {
            /**
             * Format: double
             * @description USD that the agent may spend within the window. 0 leaves it only the models that cost nothing.
             */
            limit: number;
            /**
             * Format: double
             * @description USD that are set aside for calls of models that run now.
             */
            reserved: number;
            /**
             * Format: double
             * @description USD that the agent has spent within the window, at most five seconds old.
             */
            spent: number;
            /**
             * @description Over which time spending is added up: the last 24 hours, the last 7 days, or all time.
             * @enum {string}
             */
            window: "24h" | "7d" | "total";
        };
        Cancellation: {
            /** @description Whether the inputs that wait are cancelled as well. False when absent. */
            clearQueue?: boolean;
            /** @description Turn that has to be the active one: with another, or none, the request is refused with 409. */
            turnId?: string;
        };
        Chart: {
            /** @description The state that everything begins in. */
            initial: string;
            /**
             * @description Its subject: a kind of actor, a call of a tool, a chain of hooks.
             * @enum {string}
             */
            kind: "thread" | "call" | "hooks" | "identity" | "schedule" | "subscription";
            /** @description A state stands behind the state that it is a part of. */
            states: components["schemas"]["ChartState"][];
            /** @description Transitions, for each state in the order in which they are tried. */
            transitions: components["schemas"]["ChartTransition"][];
            /** @description A hash of the rest: another one is another chart. */
            version: string;
        };
        ChartAnswer: {
            /** @description The chart. */
            chart: components["schemas"]["Chart"];
        };
        ChartList: {
            /** @description Every chart of this server. */
            charts: components["schemas"]["Chart"][];
        };
        ChartState: {
            /** @description The state's meaning. */
            description: string;
            /** @description Path of the state, such as `running.sampling`. */
            id: string;
            /** @description A state with parts begins in this part. */
            initial?: string;
            /** @description The state that it is a part of. Absent for states at the top. */
            parent?: string;
        };
        ChartTransition: {
            /** @description Names of the actions that it takes. */
            actions: string[];
            /** @description The transition's meaning. */
            description: string;
            /** @description Event that the transition is taken on. Absent: it is taken at once. */
            event?: string;
            /** @description Name of the guard that has to hold; where guards are composed, their names with `and`, `or` and `not(…)`. */
            guard?: string;
            /** @description Id of the transition within the chart. */
            id: string;
            /**
             * @description The state is left, and entered again.
             * @enum {boolean}
             */
            reenter?: true;
            /** @description The state that it is one of. Empty: of any state. */
            source: string;
            /** @description The state that it leads to. Absent where none is left. */
            target?: string;
        };
        ClientTool: {
            /** @description Hints of the tool's maker about its effects. */
            annotations?: components["schemas"]["ToolAnnotationsInput"];
            /** @description The tool's purpose, in words for the model. At most 4096 bytes of UTF-8. */
            description?: string;
            /** @description JSON Schema of the tool's input. JSON Schema 2020-12, at most 16384 bytes encoded; references only within it. */
            inputSchema: {
                /**
                 * @description A tool takes an object.
                 * @enum {string}
                 */
                type: "object";
            } & {
                [key: string]: unknown;
            };
            /** @description Name of the tool within its namespace. */
            name: components["schemas"]["ToolName"];
            /** @description JSON Schema of the tool's output. Absent: any output is taken. JSON Schema 2020-12, at most 16384 bytes encoded; references only within it. */
            outputSchema?: Record<string, never>;
            /** @description How long a call may wait for its result, in milliseconds. 0 for the usual hour, or at least 10000. */
            timeoutMs?: number;
        };
        ClientToolsetInput: {
            /** @description The tools' purpose, in words for people. At most 4096 bytes of UTF-8. */
            description?: string;
            /** @description Names of tools that are not offered. */
            exclude?: components["schemas"]["ToolName"][];
            /**
             * @description When a model is told of the tools: always, or once a search has found them. `always` when absent.
             * @enum {string}
             */
            exposure?: "always" | "search";
            /** @description Names of the tools that are offered. Absent: all of them. */
            include?: components["schemas"]["ToolName"][];
            /**
             * @description `mcp`: a server that speaks MCP. `client`: tools that the workspace's own clients execute. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            kind: "client";
            /** @description First half of its tools' names: a tool is called as `namespace.tool`. No other toolset of the workspace has it. */
            namespace: string;
            /** @description Tools that the workspace's clients execute. For kind `client` only. Each name stands once. */
            tools: components["schemas"]["ClientTool"][];
        };
        CompactedEvent: {
            /** @description The round of compaction that began or ended. */
            compaction: components["schemas"]["CompactionEvent"];
            /** @description Id of the event. */
            eventId: string;
            /** @description Why it failed, for machines. Absent when it did not. */
            failureCode?: string;
            /** @description Exactly with failureCode `model_image_format_unsupported`: which formats the model target refused. */
            failureDetails?: components["schemas"]["ModelImageFormatUnsupportedDetails"];
            /** @description Why it failed, for people. */
            failureText?: string;
            /** @description Model that produced it, as chosen by the runtime. */
            modelId: string;
            /**
             * Format: date-time
             * @description When it was recorded.
             */
            occurredAt: string;
            /**
             * Format: int64
             * @description Position in the thread's log: from 1, without gaps.
             */
            seq: number;
            /** @description Thread whose log it stands in. */
            threadId: string;
            /** @description How long it took. */
            timing?: components["schemas"]["Timing"];
            /** @description Turn that it belongs to. */
            turnId: string;
            /**
             * @description Type of the event: it tells the kinds of events apart. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "compacted";
            /** @description Tokens and cost: of a turn's end, the whole turn; of a wait, the turn so far; of a result, model calls inside the tool; of `compacted`, its own. */
            usage?: components["schemas"]["ModelUsage"];
        };
        CompactingEvent: {
            /** @description The round of compaction that began or ended. */
            compaction: components["schemas"]["CompactionEvent"];
            /** @description Id of the event. */
            eventId: string;
            /** @description Model that produced it, as chosen by the runtime. */
            modelId: string;
            /**
             * Format: date-time
             * @description When it was recorded.
             */
            occurredAt: string;
            /**
             * Format: int64
             * @description Position in the thread's log: from 1, without gaps.
             */
            seq: number;
            /** @description Thread whose log it stands in. */
            threadId: string;
            /** @description Turn that it belongs to. */
            turnId: string;
            /**
             * @description Type of the event: it tells the kinds of events apart. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "compacting";
        };
        CompactionEvent: {
            /** @description Which round of one model call it is: `build:0`, `build:1` and so on, or `overflow`. */
            attempt: string;
            /** @description Beginning of the summary as plain text. Only on a successful `compacted`. */
            preview?: string;
            /**
             * Format: int64
             * @description Boundary of the round: every event at or below this seq is summarized.
             */
            throughSeq: number;
        };
        CompactionInput: {
            /** @description Whether a conversation that gets too long for its model is summarised. True when absent. */
            enabled?: boolean;
            /** @description Things that a summary has to keep, in words for the model. At most 4096 bytes of UTF-8. */
            instructions?: string;
            /** @description Newest turns that stay as they are, the running one included. 2 when absent. */
            keepTurns?: number;
            /** @description Model that summarises. Absent: the model that is asked. */
            model?: components["schemas"]["ModelSelector"];
            /**
             * Format: double
             * @description Part of the model's context window above which a summary is made before the model is asked. 0.8 when absent.
             */
            triggerRatio?: number;
        };
        CompactionPatch: {
            /** @description Whether a conversation that gets too long for its model is summarised. True when absent. */
            enabled?: boolean | null;
            /** @description Things that a summary has to keep, in words for the model. */
            instructions?: string | null;
            /** @description Newest turns that stay as they are, the running one included. 2 when absent. */
            keepTurns?: number | null;
            /** @description Model that summarises. Absent: the model that is asked. */
            model?: components["schemas"]["ModelSelector"] | null;
            /** @description Part of the model's context window above which a summary is made before the model is asked. 0.8 when absent. */
            triggerRatio?: number | null;
        };
        CompactionSettings: {
            /** @description Whether a conversation that gets too long for its model is summarised. True when absent. */
            enabled: boolean;
            /** @description Things that a summary has to keep, in words for the model. At most 4096 bytes of UTF-8. */
            instructions?: string;
            /** @description Newest turns that stay as they are, the running one included. 2 when absent. */
            keepTurns: number;
            /** @description Model that summarises. Absent: the model that is asked. */
            model?: components["schemas"]["ModelSelector"];
            /**
             * Format: double
             * @description Part of the model's context window above which a summary is made before the model is asked. 0.8 when absent.
             */
            triggerRatio: number;
        };
        /** @description Compares the value at `path` (a JSON Pointer) with `value`. `in` takes an array, `startsWith` and `endsWith` a string, `lt`, `lte`, `gt` and `gte` a number or a string; `contains` asks for a text in a string or an element of an array; `exists` takes true, its default, or false. */
        Condition: {
            /**
             * @description How what stands at `path` is compared with `value`.
             * @enum {string}
             */
            op: "eq" | "ne" | "in" | "startsWith" | "endsWith" | "contains" | "lt" | "lte" | "gt" | "gte" | "exists";
            /** @description Where to look, as a JSON Pointer (RFC 6901) such as `/repo/owner`. Empty means the whole. At most 512 bytes of UTF-8. */
            path: string;
            /** @description Value that it is compared with. Only `exists` may do without, and means true then. At most 512 bytes: of a string its UTF-8, of anything else its JSON. */
            value?: unknown;
        };
        /** @description Compares the value at `path` (a JSON Pointer) with `value`. `in` takes an array, `startsWith` and `endsWith` a string, `lt`, `lte`, `gt` and `gte` a number or a string; `contains` asks for a text in a string or an element of an array; `exists` takes true, its default, or false. */
        ConditionInput: {
            /**
             * @description How what stands at `path` is compared with `value`.
             * @enum {string}
             */
            op: "eq" | "ne" | "in" | "startsWith" | "endsWith" | "contains" | "lt" | "lte" | "gt" | "gte" | "exists";
            /** @description Where to look, as a JSON Pointer (RFC 6901) such as `/repo/owner`. Empty means the whole. At most 512 bytes of UTF-8. */
            path: string;
            /** @description Value that it is compared with. Only `exists` may do without, and means true then. At most 512 bytes: of a string its UTF-8, of anything else its JSON. */
            value?: unknown;
        };
        Connection: {
            /** @description Hosts that the secret may be sent to, at any port: a name, or `*.example.com` for those below it. */
            allowedHosts?: string[];
            /** @description Address of the server. Without `allowedHosts` the secret is sent to its scheme, host and port only. */
            baseUrl?: string;
            /**
             * Format: date-time
             * @description When the connection was made.
             */
            createdAt: string;
            /** @description Who made the connection. */
            createdBy: components["schemas"]["Principal"];
            /** @description Name of the header that the secret goes into as it is, for servers that want `X-API-Key` or the like. `Authorization: Bearer` when absent. A signing secret is never sent: it has no use for one. */
            header?: string;
            /** @description Id of the connection, which toolsets and hooks name. */
            id: string;
            /**
             * @description Kind of the secret: an API key, a token, or a signing secret.
             * @enum {string}
             */
            kind: "apiKey" | "token" | "signing";
            /** @description Last four characters of the secret, to tell it by. Absent for secrets of fewer than 12. */
            last4?: string;
            /**
             * Format: date-time
             * @description When its secret was last used, to about a minute. Absent until the first use.
             */
            lastUsedAt?: string;
            /** @description The connection's name, for people. */
            name: string;
            /** @description Whose server it is: a label such as `github`. `openai`, `anthropic` and `google` are the model providers. */
            provider: string;
            /**
             * @description Whether the secret can be used.
             * @enum {string}
             */
            status: "active";
            /**
             * Format: date-time
             * @description When it last changed.
             */
            updatedAt: string;
        };
        ConnectionAnswer: {
            /** @description The connection, without its secret. */
            connection: components["schemas"]["Connection"];
        };
        ConnectionInput: {
            /** @description Hosts that the secret may be sent to, at any port: a name, or `*.example.com` for those below it. */
            allowedHosts?: components["schemas"]["HostPattern"][];
            /**
             * Format: uri
             * @description Address of the server. Without `allowedHosts` the secret is sent to its scheme, host and port only. At most 2048 bytes, as a browser takes it, without credentials, query and fragment.
             */
            baseUrl?: string;
            /** @description Name of the header that the secret goes into as it is, for servers that want `X-API-Key` or the like. `Authorization: Bearer` when absent. A signing secret is never sent: it has no use for one. */
            header?: components["schemas"]["SecretHeader"];
            /** @description The connection's name, for people. */
            name: string;
            /** @description Whose server it is: a label such as `github`. `openai`, `anthropic` and `google` are the model providers. */
            provider: string;
            /** @description The credential: exactly one of `apiKey`, `token` and `signingSecret`. */
            secret: components["schemas"]["ConnectionSecret"];
        };
        ConnectionPage: {
            /** @description Connections of this page, newest first. */
            connections: components["schemas"]["Connection"][];
            /** @description Present while more rows remain: passed back as `cursor`, it gives the next page. */
            nextCursor?: string;
        };
        ConnectionPatch: {
            /** @description Hosts that the secret may be sent to, at any port: a name, or `*.example.com` for those below it. */
            allowedHosts?: components["schemas"]["HostPattern"][] | null;
            /** @description Address of the server. Without `allowedHosts` the secret is sent to its scheme, host and port only. */
            baseUrl?: string | null;
            /** @description Name of the header that the secret goes into as it is, for servers that want `X-API-Key` or the like. `Authorization: Bearer` when absent. A signing secret is never sent: it has no use for one. */
            header?: components["schemas"]["SecretHeader"] | null;
            /** @description The connection's name, for people. */
            name?: string;
            /** @description Whose server it is: a label such as `github`. `openai`, `anthropic` and `google` are the model providers. */
            provider?: string;
            /** @description Replaces the whole secret, by one of the same kind. */
            secret?: components["schemas"]["ConnectionSecret"];
        };
        /** @description Write-only: no answer ever holds it. */
        ConnectionSecret: {
            /** @description A key that is sent as the bearer token of every request. Of a model provider it goes where that provider wants it. */
            apiKey?: string;
            /** @description Not supported yet: give a token. */
            oauth?: unknown;
            /** @description Signs beside `signingSecret` while receivers change over. Leave it out to end that. */
            previousSigningSecret?: string;
            /** @description Secret that signs requests, as Standard Webhooks has it: `whsec_` and 24 to 64 bytes in base64. It is never sent. */
            signingSecret?: string;
            /** @description A token that is sent as the bearer token of every request. */
            token?: string;
        } & (unknown | unknown | unknown);
        DeliveryDecision: {
            /**
             * @description Whether what waits may go on.
             * @enum {string}
             */
            decision: "allow" | "deny";
            /** @description Why, in words for people. The log keeps it. At most 1024 bytes of UTF-8. */
            reason?: string;
            /** @description Replacement of the content that waits. Only with an `allow`. */
            rewrite?: components["schemas"]["WaitRewrite"];
        };
        Denial: {
            /** @description Conditions that the call's input must meet, all of them. Absent: every call of these tools. */
            conditions?: components["schemas"]["Condition"][];
            /** @description The tools that it is about. */
            tools: components["schemas"]["ToolSelector"];
        };
        DenialInput: {
            /** @description Conditions that the call's input must meet, all of them. Absent: every call of these tools. */
            conditions?: components["schemas"]["ConditionInput"][];
            /** @description The tools that it is about. */
            tools: components["schemas"]["ToolSelector"];
        };
        ErrorResponse: {
            /**
             * Format: int64
             * @description How many more attempts are taken.
             */
            attemptsRemaining?: number;
            /** @description A finer cause, for machines. */
            code?: string;
            /** @description Version of the memory entry that stood in the way. Only with `memory_conflict`. */
            currentVersion?: string;
            /** @description The problem, as a stable word to act on. */
            error: string;
            /** @description The problem, for people. It says which field, where one is. */
            message: string;
            /**
             * Format: int64
             * @description Seconds after which to try again: what the header Retry-After says.
             */
            retryAfterSeconds?: number;
        };
        Evaluated: {
            /** @description Message that would be handed over. */
            content?: string;
            /** @description Why the condition could not be asked of it. */
            error?: string;
            /** @description Whether the message matches. */
            matched: boolean;
        };
        EvaluateSample: {
            /** @description A message that might come. */
            sample: components["schemas"]["SampleMessage"];
        };
        Evaluation: {
            /**
             * Format: date-time
             * @description When the messages were judged.
             */
            at: string;
            /**
             * Format: int64
             * @description How many of them match. Absent where it failed.
             */
            count?: number;
            /** @description Why it failed. */
            error?: {
                /** @description The problem, as a word. */
                code: string;
                /** @description The problem, for people. */
                message: string;
            };
            /**
             * Format: int64
             * @description Seq of the first message.
             */
            fromSeq: number;
            /**
             * @description Why messages that match were dismissed.
             * @enum {string}
             */
            reason?: "hop_limit" | "identity_disabled" | "messages_trimmed";
            /**
             * Format: date-time
             * @description When the next attempt was to be.
             */
            retryAt?: string;
            /**
             * Format: int64
             * @description Its place among those of the subscription.
             */
            seq: number;
            /**
             * @description Outcome of the messages.
             * @enum {string}
             */
            status: "escalated" | "dismissed" | "failed";
            /** @description The thread that has got them. */
            threadId?: string;
            /**
             * Format: int64
             * @description Seq of the last message.
             */
            toSeq: number;
            /** @description The turn of that. */
            turnId?: string;
        };
        EvaluationPage: {
            /** @description Evaluations of this page, newest first. */
            evaluations: components["schemas"]["Evaluation"][];
            /** @description Present while more rows remain: passed back as `cursor`, it gives the next page. */
            nextCursor?: string;
        };
        EventPage: {
            /** @description Events of the log, in the order that was asked for. */
            events: components["schemas"]["ThreadEvent"][];
            /** @description Present while more rows remain: passed back as `cursor`, it gives the next page. */
            nextCursor?: string;
        };
        Feed: {
            /**
             * Format: date-time
             * @description Since when it takes no messages any more.
             */
            archivedAt?: string;
            /**
             * Format: date-time
             * @description When the feed was made.
             */
            createdAt: string;
            /** @description Who made it. */
            createdBy: components["schemas"]["Principal"];
            /** @description The feed's purpose, in words for people and models. */
            description?: string;
            /**
             * Format: int64
             * @description Seq of the oldest message that is kept. One more than `lastSeq` where none is.
             */
            firstSeq: number;
            /** @description Id of the feed. */
            id: string;
            /**
             * Format: int64
             * @description Seq of the newest message; 0 before the first.
             */
            lastSeq: number;
            /** @description The feed's name: unique in the workspace, also among archived feeds. */
            name: string;
            /** @description Which messages are kept. Absent: all of them. */
            retention?: components["schemas"]["Retention"];
            /** @description Labels for your own use, each of them once. */
            tags: string[];
        };
        FeedAnswer: {
            /** @description The feed. */
            feed: components["schemas"]["Feed"];
        };
        FeedAppend: {
            /**
             * Format: int64
             * @description The `lastSeq` that the feed has to have, else it is 409 `feed_conflict`. Absent: any.
             */
            expectedLastSeq?: number;
            /** @description Messages in their order. Text and tags of all of them have at most 262144 bytes. */
            messages: components["schemas"]["FeedMessageInput"][];
        };
        FeedAppended: {
            /**
             * Format: int64
             * @description Seq of the last message that was written.
             */
            endSeq?: number;
            /** @description One answer for each message that was sent, in their order. */
            messages: {
                /** @description True where its `dedupeKey` was there already: the seq belongs to the message that has it. */
                duplicate?: boolean;
                /**
                 * Format: int64
                 * @description Seq of the message.
                 */
                seq: number;
            }[];
            /**
             * Format: int64
             * @description Seq of the first message that was written. Absent: none was.
             */
            startSeq?: number;
        };
        FeedInput: {
            /** @description The feed's purpose, in words for people and models. At most 4096 bytes of UTF-8. */
            description?: string;
            /** @description The feed's name: unique in the workspace, also among archived feeds. */
            name: string;
            /** @description Which messages are kept. Absent: all of them. */
            retention?: components["schemas"]["RetentionInput"];
            /** @description Labels for your own use, each of them once. */
            tags?: string[];
        };
        FeedMessage: {
            /**
             * Format: date-time
             * @description When it was appended.
             */
            appendedAt: string;
            /** @description Anything that programs are to read, as JSON. */
            data?: unknown;
            /** @description The sender's own name for the message: a name that was sent within 24 hours is not appended again. */
            dedupeKey?: string;
            /** @description Feed of the message. */
            feedId: string;
            /** @description A trigger's description of an event outside. It carries no authority. */
            origin?: components["schemas"]["Origin"];
            /** @description Who appended it. */
            principal: components["schemas"]["Principal"];
            /**
             * Format: int64
             * @description Place of the message in its feed, from 1, without gaps.
             */
            seq: number;
            /** @description Labels for your own use, each of them once. */
            tags: string[];
            /** @description The message's text. */
            text: string;
        };
        FeedMessageInput: {
            /** @description Anything that programs are to read, as JSON. */
            data?: unknown;
            /** @description The sender's own name for the message: a name that was sent within 24 hours is not appended again. */
            dedupeKey?: string;
            /** @description A trigger's description of an event outside. It carries no authority. Only triggers may send it. */
            origin?: components["schemas"]["Origin"];
            /** @description Labels for your own use, each of them once. */
            tags?: string[];
            /** @description The message's text. At most 32768 bytes of UTF-8. */
            text: string;
        };
        FeedMessagePage: {
            /** @description Messages of this page, ascending by seq. */
            messages: components["schemas"]["FeedMessage"][];
            /**
             * Format: int64
             * @description The `startSeq` of the next page. Absent at the end.
             */
            nextSeq?: number;
        };
        FeedPage: {
            /** @description Feeds of this page, by name. */
            feeds: components["schemas"]["Feed"][];
            /** @description Present while more rows remain: passed back as `cursor`, it gives the next page. */
            nextCursor?: string;
        };
        FeedPatch: {
            /** @description The feed's purpose, in words for people and models. */
            description?: string | null;
            /** @description The feed's name: unique in the workspace, also among archived feeds. */
            name?: string;
            /** @description Which messages are kept. Absent: all of them. */
            retention?: {
                /** @description For how many seconds a message is kept. */
                maxAgeSeconds?: number | null;
                /** @description How many of the newest messages are kept. */
                maxMessages?: number | null;
            } | null;
            /** @description Labels for your own use, each of them once. */
            tags?: string[] | null;
        };
        Grant: {
            /**
             * @description A person has to approve each such call.
             * @enum {string}
             */
            approval?: "required";
            /** @description Conditions that the call's input must meet, all of them. Absent: every call of these tools. */
            conditions?: components["schemas"]["Condition"][];
            /**
             * @description Only tools that their server marks with `readOnlyHint`: of the built-in role `read_only`.
             * @enum {boolean}
             */
            readOnly?: true;
            /** @description The tools that it is about. */
            tools: components["schemas"]["ToolSelector"];
        };
        GrantInput: {
            /**
             * @description A person has to approve each such call.
             * @enum {string}
             */
            approval?: "required";
            /** @description Conditions that the call's input must meet, all of them. Absent: every call of these tools. */
            conditions?: components["schemas"]["ConditionInput"][];
            /** @description The tools that it is about. */
            tools: components["schemas"]["ToolSelector"];
        };
        Hook: {
            /** @description How long an ask stays open, in milliseconds. 86400000 when absent for client, 3600000 for url and agent. */
            asyncTimeoutMs?: number;
            /** @description Whether it is asked. */
            enabled: boolean;
            /** @description Id of the hook: the same through all versions of its profile. */
            id: string;
            /** @description When it is asked. Absent: always. */
            match?: components["schemas"]["HookMatch"];
            /** @description The hook's name, for people. */
            name: string;
            /**
             * @description Decision when no valid answer comes. `deny` before something happens, and `allow` after it, when absent.
             * @enum {string}
             */
            onError?: "deny" | "ask" | "allow";
            /**
             * @description Outcome of an ask that nobody answers in time. `deny` when absent; `fail` fails the turn.
             * @enum {string}
             */
            onTimeout?: "deny" | "allow" | "fail";
            /**
             * @description Where in a turn it is asked.
             * @enum {string}
             */
            point: "before_turn_start" | "before_tool_call" | "after_tool_result" | "after_model_response";
            /** @description Who is asked. */
            processor: components["schemas"]["HookProcessor"];
            /** @description How long the first answer may take, in milliseconds. At most 30000 for url and 300000 for agent, which are the defaults. A client is not waited for. */
            timeoutMs?: number;
        };
        HookData: {
            /** @description The message that would begin the turn, or join it. At most 20 image blocks, with different ids. */
            content: (components["schemas"]["TextBlock"] | components["schemas"]["ImageBlock"])[];
            /**
             * @description Where in the turn it is asked; tells the kinds of data apart.
             * @enum {string}
             */
            point: "before_turn_start";
            /**
             * @description How the message was submitted.
             * @enum {string}
             */
            submitMode: "queue" | "steer" | "interrupt";
        } | {
            /**
             * @description Where in the turn it is asked; tells the kinds of data apart.
             * @enum {string}
             */
            point: "before_tool_call";
            /** @description Id of the call. */
            toolCallId: string;
            /** @description Input of the call, as the model gave it. */
            toolInput: unknown;
            /** @description The tool that is called, as `namespace.tool`. */
            toolName: string;
            /** @description Toolset of the tool. Absent for built-in tools. */
            toolsetId?: string;
        } | {
            /** @description Why the call failed. Absent when it did not. */
            failureCode?: string;
            /**
             * @description Where in the turn it is asked; tells the kinds of data apart.
             * @enum {string}
             */
            point: "after_tool_result";
            /** @description Id of the call. */
            toolCallId: string;
            /** @description Content blocks of the Model Context Protocol that came beside `toolOutput` and say more than it: text, images, sounds, resources, links, with their annotations. Together with `toolOutput` and `toolMeta` at most 256 KiB of JSON; the bytes of a block that finds no room are left out of it, which `truncated` and `bytes` say. [ext] */
            toolContent?: Record<string, never>[];
            /** @description Input of the call, as the model gave it. */
            toolInput: unknown;
            /** @description Remarks of the tool's server about its result (`_meta`). No model reads them. [ext] */
            toolMeta?: Record<string, never>;
            /** @description The tool that is called, as `namespace.tool`. */
            toolName: string;
            /** @description Output of the tool. */
            toolOutput: unknown;
            /** @description Toolset of the tool. Absent for built-in tools. */
            toolsetId?: string;
        } | {
            /** @description The text of the response. Empty for a response of calls only. */
            content: (components["schemas"]["TextBlock"] | components["schemas"]["ImageBlock"])[];
            /** @description Model that gave the response. */
            modelId: string;
            /**
             * @description Where in the turn it is asked; tells the kinds of data apart.
             * @enum {string}
             */
            point: "after_model_response";
            /** @description Tokens and cost of the response. */
            usage: components["schemas"]["ModelUsageInput"];
        };
        HookDecidedEvent: {
            /** @description Id of the event. */
            eventId: string;
            /** @description The decision of a hook. */
            hook: components["schemas"]["HookDecisionEvent"];
            /**
             * Format: date-time
             * @description When it was recorded.
             */
            occurredAt: string;
            /**
             * Format: int64
             * @description Position in the thread's log: from 1, without gaps.
             */
            seq: number;
            /** @description Thread whose log it stands in. */
            threadId: string;
            /** @description Id of the call: the same from its `tool_intent` to its `tool_result`. */
            toolCallId?: string;
            /** @description Turn that it belongs to. */
            turnId: string;
            /**
             * @description Type of the event: it tells the kinds of events apart. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "hook_decision";
            /** @description The wait that began or ended, or that a hook's ask led to. */
            waitId?: string;
        };
        HookDecision: {
            /** @description Agent of the thread. */
            agentId: string;
            /**
             * @description The hook's decision. `defer` is no opinion: the next hook goes on as if this one had not been asked.
             * @enum {string}
             */
            decision: "allow" | "deny" | "ask" | "defer";
            /** @description The delivery that asked. Absent where none was sent. */
            deliveryId?: string;
            /** @description Whether it made a difference: it denied, asked, or rewrote. */
            enforced: boolean;
            /** @description The hook that was asked. */
            hookId: string;
            /**
             * Format: int64
             * @description Place of the hook in its profile's list, from 0.
             */
            index: number;
            /**
             * Format: int64
             * @description How long the first answer took, in milliseconds.
             */
            latencyMs: number;
            /**
             * Format: date-time
             * @description When it was decided.
             */
            occurredAt: string;
            /**
             * @description Where in the turn it was asked.
             * @enum {string}
             */
            point: "before_turn_start" | "before_tool_call" | "after_tool_result" | "after_model_response";
            /**
             * @description Who was asked: an endpoint, another agent, or a client.
             * @enum {string}
             */
            processor: "url" | "agent" | "client";
            /** @description Why, in words for people. */
            reason?: string;
            /** @description True when it replaced the content that it judged. */
            rewrote?: boolean;
            /**
             * Format: int64
             * @description Seq of its `hook_decision` event.
             */
            seq: number;
            /** @description Thread of the turn. */
            threadId: string;
            /** @description The call that it judged. Absent at the points without one. */
            toolCallId?: string;
            /** @description Turn in which it was asked. */
            turnId: string;
            /** @description The wait that its ask led to. */
            waitId?: string;
        };
        HookDecisionEvent: {
            /**
             * @description The hook's decision. `defer` is no opinion: the next hook goes on as if this one had not been asked.
             * @enum {string}
             */
            decision: "allow" | "deny" | "ask" | "defer";
            /** @description The delivery that asked. Absent where none was sent. */
            deliveryId?: string;
            /** @description The hook that was asked. */
            hookId: string;
            /**
             * Format: int64
             * @description Place of the hook in its profile's list, from 0.
             */
            index: number;
            /**
             * Format: int64
             * @description How long the first answer took, in milliseconds.
             */
            latencyMs: number;
            /**
             * @description Where in the turn it was asked.
             * @enum {string}
             */
            point: "before_turn_start" | "before_tool_call" | "after_tool_result" | "after_model_response";
            /**
             * @description Who was asked: an endpoint, another agent, or a client.
             * @enum {string}
             */
            processor: "url" | "agent" | "client";
            /** @description Why, in words for people. */
            reason?: string;
            /** @description True when it replaced the content that it judged. */
            rewrote?: boolean;
        };
        HookDecisionPage: {
            /** @description Decisions of this page, newest first. */
            decisions: components["schemas"]["HookDecision"][];
            /** @description Present while more rows remain: passed back as `cursor`, it gives the next page. */
            nextCursor?: string;
        };
        HookInput: {
            /** @description How long an ask stays open, in milliseconds. 86400000 when absent for client, 3600000 for url and agent. */
            asyncTimeoutMs?: number;
            /** @description Whether it is asked. True when absent. */
            enabled?: boolean;
            /** @description The hook of the profile's latest version that this one goes on as. Absent: a new one. */
            id?: string;
            /** @description When it is asked. Absent: always. */
            match?: components["schemas"]["HookMatchInput"];
            /** @description The hook's name, for people. */
            name: string;
            /**
             * @description Decision when no valid answer comes. `deny` before something happens, and `allow` after it, when absent.
             * @enum {string}
             */
            onError?: "deny" | "ask" | "allow";
            /**
             * @description Outcome of an ask that nobody answers in time. `deny` when absent; `fail` fails the turn.
             * @enum {string}
             */
            onTimeout?: "deny" | "allow" | "fail";
            /**
             * @description Where in a turn it is asked.
             * @enum {string}
             */
            point: "before_turn_start" | "before_tool_call" | "after_tool_result" | "after_model_response";
            /** @description Who is asked. */
            processor: components["schemas"]["HookProcessorInput"];
            /** @description How long the first answer may take, in milliseconds. At most 30000 for url and 300000 for agent, which are the defaults. A client is not waited for. */
            timeoutMs?: number;
        };
        HookMatch: {
            /** @description Conditions that must all hold: of the tool's input at the points of tools, of `data` at the others. Absent: none. */
            conditions?: components["schemas"]["Condition"][];
            /** @description Tools whose calls it is asked about: any of these. Only at the points of tools. Absent: every tool. */
            tools?: components["schemas"]["ToolSelector"][];
        };
        HookMatchInput: {
            /** @description Conditions that must all hold: of the tool's input at the points of tools, of `data` at the others. Absent: none. */
            conditions?: components["schemas"]["ConditionInput"][];
            /** @description Tools whose calls it is asked about: any of these. Only at the points of tools. Absent: every tool. */
            tools?: components["schemas"]["ToolSelector"][];
        };
        HookOutcome: {
            /** @description For an ask: who answers, how long it stays open, and its outcome then. */
            ask?: {
                /**
                 * @description Outcome when nobody answers.
                 * @enum {string}
                 */
                onTimeout: "deny" | "allow" | "fail";
                /**
                 * @description Who is expected to answer.
                 * @enum {string}
                 */
                target: "person" | "client" | "url";
                /**
                 * Format: int64
                 * @description How long it stays open, in milliseconds.
                 */
                timeoutMs: number;
            };
            /**
             * @description The hook's decision.
             * @enum {string}
             */
            decision: "allow" | "deny" | "ask" | "defer";
            /** @description Id of the delivery that asked. */
            deliveryId: string;
            /**
             * @description No valid answer came: this is what the hook's onError says.
             * @enum {boolean}
             */
            failed?: true;
            /**
             * Format: int64
             * @description How long the answer took, in milliseconds.
             */
            latencyMs: number;
            /** @description Why, in words for people. */
            reason?: string;
            /** @description Replacement for the content that was judged. */
            rewrite?: {
                /** @description Message or text from now on. */
                content?: (components["schemas"]["TextBlock"] | components["schemas"]["ImageBlock"])[];
                /** @description Input of the call from now on. */
                toolInput?: unknown;
                /** @description Output of the call from now on. */
                toolOutput?: unknown;
            };
        };
        HookProcessor: {
            /** @description Connection with the signing secret of the deliveries. Absent: they are not signed. */
            connectionId?: string;
            /**
             * @description Who is asked: an endpoint, another agent, or a client.
             * @enum {string}
             */
            type: "url";
            /**
             * Format: uri
             * @description Endpoint that deliveries are posted to. It may have a query. At most 2048 bytes, as a browser takes it, without credentials and fragment.
             */
            url: string;
        } | {
            /** @description Agent that judges, in a thread of its own. */
            agentId: string;
            /** @description Instructions for its judgement, in words for its model. At most 4096 bytes of UTF-8. */
            instructions?: string;
            /**
             * @description Who is asked: an endpoint, another agent, or a client.
             * @enum {string}
             */
            type: "agent";
        } | {
            /**
             * @description Who is asked: an endpoint, another agent, or a client.
             * @enum {string}
             */
            type: "client";
        };
        HookProcessorInput: {
            /** @description Connection with the signing secret of the deliveries. Absent: they are not signed. */
            connectionId?: string;
            /**
             * @description Who is asked: an endpoint, another agent, or a client.
             * @enum {string}
             */
            type: "url";
            /**
             * Format: uri
             * @description Endpoint that deliveries are posted to. It may have a query. At most 2048 bytes, as a browser takes it, without credentials and fragment.
             */
            url: string;
        } | {
            /** @description Agent that judges, in a thread of its own. */
            agentId: string;
            /** @description Instructions for its judgement, in words for its model. At most 4096 bytes of UTF-8. */
            instructions?: string;
            /**
             * @description Who is asked: an endpoint, another agent, or a client.
             * @enum {string}
             */
            type: "agent";
        } | {
            /**
             * @description Who is asked: an endpoint, another agent, or a client.
             * @enum {string}
             */
            type: "client";
        };
        HookSample: {
            /** @description Data as the hook would be told it at its point. */
            data: components["schemas"]["HookData"];
            /** @description The hook to try, as a profile would hold it. */
            hook: components["schemas"]["HookInput"];
        };
        HookTest: {
            /** @description Whether the hook's match fits the sample. It is asked in any case. */
            matched: boolean;
            /** @description Outcome of the question. */
            outcome: components["schemas"]["HookOutcome"];
            /** @description Request of the last attempt to a url. Signatures are left out. */
            request?: {
                /** @description The delivery. */
                body: unknown;
                /** @description Headers by name. */
                headers: {
                    [key: string]: string;
                };
                /** @description Where it was sent. */
                url: string;
            };
            /** @description Answer of the url. Absent when none came. */
            response?: {
                /** @description Body of the answer, as text. */
                body: string;
                /**
                 * Format: int64
                 * @description HTTP status of the answer.
                 */
                status: number;
            };
        };
        HookWaitDecision: {
            /**
             * @description Whether what waits may go on.
             * @enum {string}
             */
            decision: "allow" | "deny";
            /** @description Why, in words for people. The log keeps it. At most 1024 bytes of UTF-8. */
            reason?: string;
            /** @description Replacement of the content that waits. Only with an `allow`. */
            rewrite?: components["schemas"]["WaitRewrite"];
            /**
             * @description How far an `allow` goes: for what waits, or for every call of this tool in this thread that the same hook or grant asks about. `once` when absent.
             * @enum {string}
             */
            scope?: "once" | "thread";
            /**
             * @description Which kind of wait is answered.
             * @enum {string}
             */
            type?: "decision";
        };
        HostPattern: string;
        Identity: {
            /**
             * Format: int64
             * @description Number of agents with this identity that are not archived.
             */
            activeAgents: number;
            /** @description Id of its actor, for its steps and its chart. Absent where nobody has ever disabled the identity. */
            actorId?: string;
            /** @description Whether it is refused new work and new credentials. */
            disabled: boolean;
            /**
             * Format: date-time
             * @description Since when it is disabled.
             */
            disabledAt?: string;
            /** @description Who disabled it. */
            disabledBy?: components["schemas"]["Principal"];
            /**
             * Format: date-time
             * @description When this workspace first saw it.
             */
            firstSeenAt: string;
            /** @description The identity itself. */
            identity: string;
            /**
             * Format: date-time
             * @description When this workspace last saw it.
             */
            lastSeenAt: string;
        };
        IdentityChoice: {
            /** @description The identity. One that nobody has named before is taken too. At most 512 bytes of UTF-8 without control characters, once surrounding whitespace is trimmed. */
            identity: string;
        };
        IdentityPage: {
            /** @description Identities of this page, newest first. */
            identities: components["schemas"]["Identity"][];
            /** @description Present while more rows remain: passed back as `cursor`, it gives the next page. */
            nextCursor?: string;
        };
        Image: {
            /**
             * Format: int64
             * @description How many there are.
             */
            bytes: number;
            /**
             * Format: date-time
             * @description When it was uploaded for this agent.
             */
            createdAt: string;
            /**
             * @description Format of the bytes.
             * @enum {string}
             */
            format: "jpeg" | "png" | "gif" | "webp";
            /**
             * Format: int64
             * @description How many pixels it is high.
             */
            height: number;
            /** @description Id of the image, which image blocks name. The same bytes have the same id in a workspace. */
            id: string;
            /**
             * Format: int64
             * @description How many pixels it is wide.
             */
            width: number;
        };
        ImageBlock: {
            /** @description An image of the agent. */
            imageId: string;
            /**
             * @description Tells the kinds of blocks apart.
             * @enum {string}
             */
            type: "image";
        };
        ImagePage: {
            /** @description Images of this page, newest first. */
            images: components["schemas"]["Image"][];
            /** @description Present while more rows remain: passed back as `cursor`, it gives the next page. */
            nextCursor?: string;
        };
        ImageUpload: {
            /** @description The bytes as base64, at most 10485760 of them, 8000 pixels a side and 50 megapixels. */
            data: string;
            /**
             * @description Format of the bytes: what they are not is refused.
             * @enum {string}
             */
            format: "jpeg" | "png" | "gif" | "webp";
        };
        ImmediateCadence: {
            /** @description Messages that are handed over together at most. 1 when absent: a message, a turn. */
            maxMessages?: number;
            /**
             * @description Tells the kinds apart.
             * @enum {string}
             */
            mode: "immediate";
        };
        ImmediateCadenceInput: {
            /** @description Messages that are handed over together at most. 1 when absent: a message, a turn. */
            maxMessages?: number;
            /**
             * @description Tells the kinds apart.
             * @enum {string}
             */
            mode: "immediate";
        };
        InputRecord: {
            /** @description The message. At most 20 image blocks, with different ids. */
            content: (components["schemas"]["TextBlock"] | components["schemas"]["ImageBlock"])[];
            /** @description The inputId of the queue's paths. */
            id: string;
            /** @description Model that was asked for with the message. [ext] */
            model?: string;
            /** @description Whose words these are: who sent the message, or edited it last. */
            principal: components["schemas"]["Principal"];
            /**
             * Format: date-time
             * @description When the message was submitted.
             */
            queuedAt: string;
            /**
             * Format: int64
             * @description Seq of its `user_message`, once it is admitted.
             */
            seq?: number;
            /**
             * @description `queued`: it waits its turn. `steered`: it waits for the running turn's next model call. `admitted`: it is in the log, at `seq`. `cancelled`: it will never run.
             * @enum {string}
             */
            state: "queued" | "steered" | "admitted" | "cancelled";
            /**
             * @description How the message was submitted, or promoted since.
             * @enum {string}
             */
            submitMode: "queue" | "steer" | "interrupt";
            /** @description Who sent it first, where that is somebody else. [ext] */
            submittedBy?: components["schemas"]["Principal"];
            /** @description Turn that the message begins, or joins. */
            turnId: string;
        };
        KeyRotation: {
            /** @description Seconds for which the old key goes on beside the new one: 86400 when absent. With 0 it ends at once. */
            overlapSeconds?: number;
        };
        LastTurn: {
            /**
             * @description Why the model stopped before its newest answer was whole, also where it wrote calls only, or nothing: `length` where it reached a limit of tokens, `content_filter` where the provider's filter stopped it.
             * @enum {string}
             */
            finishReason: "length" | "content_filter";
            /** @description Id of the turn, also while it runs. */
            turnId: string;
        };
        Limit: {
            /**
             * Format: int64
             * @description How many the workspace may have; of `stored_bytes`, bytes within 24 hours.
             */
            limit: number;
            /**
             * @description Resource that is counted.
             * @enum {string}
             */
            resource: "agents" | "connections" | "keys" | "roles" | "stored_bytes" | "threads" | "toolsets";
            /**
             * Format: int64
             * @description How many it has; of `stored_bytes`, bytes within the last 24 hours.
             */
            used: number;
        };
        LimitList: {
            /** @description Every limit of the workspace, by name. */
            limits: components["schemas"]["Limit"][];
        };
        McpToolsetInput: {
            /** @description Connection with the credential that the MCP server wants. Absent: none is sent. */
            connectionId?: string;
            /** @description The tools' purpose, in words for people. At most 4096 bytes of UTF-8. */
            description?: string;
            /** @description Names of tools that are not offered. */
            exclude?: components["schemas"]["ToolName"][];
            /**
             * @description When a model is told of the tools: always, or once a search has found them. `always` when absent.
             * @enum {string}
             */
            exposure?: "always" | "search";
            /** @description Names of the tools that are offered. Absent: all of them. */
            include?: components["schemas"]["ToolName"][];
            /**
             * @description `mcp`: a server that speaks MCP. `client`: tools that the workspace's own clients execute. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            kind: "mcp";
            /**
             * @description `call`: every call brings a lease, with which the MCP server may ask this API on the agent's behalf while the turn goes on. `none`, the default: no call does. For kind `mcp` only.
             * @enum {string}
             */
            lease?: "none" | "call";
            /** @description First half of its tools' names: a tool is called as `namespace.tool`. No other toolset of the workspace has it. */
            namespace: string;
            /** @description How long a call of its tools may take without a word, in milliseconds: 60000 when absent. Progress that the server reports begins the time anew, up to 10 times it in all. A turn's own time goes on meanwhile. */
            timeoutMs?: number;
            /** @description Milliseconds by the name that the server gave the tool, in the place of `timeoutMs`. */
            toolTimeouts?: {
                [key: string]: number;
            };
            /**
             * @description How the MCP server is spoken to. For kind `mcp` only; `streamable_http` when absent.
             * @enum {string}
             */
            transport?: "streamable_http";
            /** @description Whether what the MCP server says of its own tools counts: `readOnlyHint` for the role read_only, that and `idempotentHint` for repeating a call after a crash. False when absent. */
            trusted?: boolean;
            /**
             * Format: uri
             * @description Address of the MCP server. For kind `mcp` only. At most 2048 bytes, as a browser takes it, without credentials, query and fragment.
             */
            url: string;
        };
        MemoryEntry: {
            /**
             * Format: date-time
             * @description When it was made, or made anew after a delete.
             */
            createdAt: string;
            /** @description Key of the entry in its store. */
            key: string;
            /**
             * Format: int64
             * @description Bytes of the value, as UTF-8.
             */
            size: number;
            /** @description The thread in which an agent wrote it. */
            threadId?: string;
            /** @description The turn in which an agent wrote it. */
            turnId?: string;
            /**
             * Format: date-time
             * @description When it was last written.
             */
            updatedAt: string;
            /** @description Who last wrote it. */
            updatedBy: components["schemas"]["Principal"];
            /** @description The note. */
            value: string;
            /** @description Version of the entry: opaque, also its ETag, never used again. */
            version: string;
        };
        MemoryEntryAnswer: {
            /** @description The entry. */
            entry: components["schemas"]["MemoryEntry"];
        };
        MemoryHit: {
            /** @description Key of the entry in its store. */
            key: string;
            /**
             * Format: double
             * @description How well it fits, beside the others of this answer: more is better.
             */
            rank: number;
            /** @description A part of the value with the words that were looked for. */
            snippet: string;
            /**
             * Format: date-time
             * @description When it was last written.
             */
            updatedAt: string;
            /** @description Version of the entry: opaque, also its ETag, never used again. */
            version: string;
        };
        MemoryHits: {
            /** @description Entries that fit, the best first. */
            entries: components["schemas"]["MemoryHit"][];
        };
        MemoryInput: {
            /** @description Write only while the entry is at this version; `none`: only where there is no entry. At most 512 bytes of UTF-8. */
            expectedVersion?: string;
            /** @description The note. At most 40960 bytes of UTF-8 after decoding: more is 413. */
            value: string;
        };
        MemoryItem: {
            /** @description Key of the entry in its store. */
            key: string;
            /**
             * Format: int64
             * @description Bytes of the value, as UTF-8.
             */
            size: number;
            /**
             * Format: date-time
             * @description When it was last written.
             */
            updatedAt: string;
            /** @description Who last wrote it. */
            updatedBy: components["schemas"]["Principal"];
            /** @description Version of the entry: opaque, also its ETag, never used again. */
            version: string;
        };
        MemoryPage: {
            /** @description Entries of this page, in the order of their keys' bytes. */
            entries: components["schemas"]["MemoryItem"][];
            /** @description Present while more rows remain: passed back as `cursor`, it gives the next page. */
            nextCursor?: string;
        };
        MemoryVersion: {
            /**
             * Format: date-time
             * @description When that was.
             */
            createdAt: string;
            /** @description Who did it. */
            createdBy: components["schemas"]["Principal"];
            /**
             * @description Whether the entry was written or deleted.
             * @enum {string}
             */
            operation: "put" | "delete";
            /** @description The version of the write or delete before it. Absent of the first. */
            previousVersion?: string;
            /**
             * Format: date-time
             * @description Since when its value is gone for good.
             */
            redactedAt?: string;
            /**
             * Format: int64
             * @description Bytes of the value, as UTF-8; 0 of a delete.
             */
            size: number;
            /** @description The thread in which an agent wrote it. */
            threadId?: string;
            /** @description The turn in which an agent wrote it. */
            turnId?: string;
            /** @description The value that was written. Only where one version is asked for; absent for a delete, and once it was redacted. */
            value?: string;
            /** @description The version that this write or delete made. */
            version: string;
        };
        MemoryVersionAnswer: {
            /** @description The version. */
            version: components["schemas"]["MemoryVersion"];
        };
        MemoryVersionPage: {
            /** @description Present while more rows remain: passed back as `cursor`, it gives the next page. */
            nextCursor?: string;
            /** @description Versions of this page, newest first, without their values. */
            versions: components["schemas"]["MemoryVersion"][];
        };
        /** @description At most 8192 bytes of text in all, and 524288 of encoded JSON. At most 20 image blocks, with different ids. */
        MessageContent: (components["schemas"]["TextBlock"] | components["schemas"]["ImageBlock"])[];
        MessageEdit: {
            /** @description The new message: it replaces the whole old one. */
            content: components["schemas"]["MessageContent"];
        };
        MessageInput: {
            /** @description The message. */
            content: components["schemas"]["MessageContent"];
            /** @description Turn that has to be the active one: with another, or none, the request is refused with 409. */
            expectedTurnId?: string;
            /**
             * @description `queue`, the default, appends behind current work; `steer` redirects the turn in flight; `interrupt` stops current work and goes first.
             * @enum {string}
             */
            mode?: "queue" | "steer" | "interrupt";
            /** @description Model of the turn that the message begins. Not together with `steer`. Absent: the model of the thread, else of its profile. */
            model?: components["schemas"]["ModelSelector"];
            /** @description The outside event that the message comes from. Only a trigger may say so. */
            origin?: components["schemas"]["Origin"];
        };
        Model: {
            /**
             * Format: int64
             * @description Tokens that a prompt and its response may have together. Absent where it is not known.
             */
            contextWindow?: number;
            /** @description Name of the model for people. */
            displayName: string;
            /** @description Abilities of the model beside text. */
            features: ("tools" | "images" | "reasoning" | "caching")[];
            /** @description Id of the model, as `provider/name`: what a selector names. */
            id: string;
            /** @description Image formats that it takes. Empty: none. */
            inputFormats: ("jpeg" | "png" | "gif" | "webp")[];
            /**
             * Format: int64
             * @description Tokens that a response may have. Absent where it is not known.
             */
            maxOutputTokens?: number;
            /** @description Prices of its tokens. A price that is not known is left out. */
            pricing?: components["schemas"]["ModelPricing"];
            /**
             * Format: date-time
             * @description When its provider takes it away. Absent where it is not known.
             */
            retiresAt?: string;
            /**
             * @description Whether it can be used now.
             * @enum {string}
             */
            status: "available" | "deprecated" | "unavailable";
            /** @description Providers' models that serve it. */
            targets: components["schemas"]["ModelTarget"][];
        };
        /** @description At most 4096 bytes of JSON. */
        ModelImageFormatUnsupportedDetails: {
            /** @description The image formats that it refused. Sorted. */
            formats: ("jpeg" | "png" | "gif" | "webp")[];
            /** @description The model target that refused the images: one of `targets[].id` of the model list. */
            targetId: string;
        };
        ModelPage: {
            /** @description Models of this page. */
            models: components["schemas"]["Model"][];
            /** @description Present while more rows remain: passed back as `cursor`, it gives the next page. */
            nextCursor?: string;
        };
        ModelPricing: {
            /**
             * Format: double
             * @description USD for a million tokens of input that are read from the provider's cache.
             */
            cacheRead?: number;
            /**
             * Format: double
             * @description USD for a million tokens of input that are written to the provider's cache.
             */
            cacheWrite?: number;
            /**
             * Format: double
             * @description USD for a million tokens of input.
             */
            input?: number;
            /**
             * Format: double
             * @description USD for a million tokens of output.
             */
            output?: number;
        };
        ModelSelector: string;
        ModelSettings: {
            /** @description Tokens that a response may have at most. Absent: as many as the model writes. Under a budget exactly this much is set aside for a call. */
            maxOutputTokens?: number;
            /**
             * @description How long it thinks first. For models whose `features` have `reasoning`.
             * @enum {string}
             */
            reasoning?: "low" | "medium" | "high";
            /**
             * Format: double
             * @description How freely it chooses its words, from 0 to 2. Absent: the provider's default.
             */
            temperature?: number;
        };
        ModelSettingsInput: {
            /** @description Tokens that a response may have at most. Absent: as many as the model writes. Under a budget exactly this much is set aside for a call. */
            maxOutputTokens?: number;
            /**
             * @description How long it thinks first. For models whose `features` have `reasoning`.
             * @enum {string}
             */
            reasoning?: "low" | "medium" | "high";
            /**
             * Format: double
             * @description How freely it chooses its words, from 0 to 2. Absent: the provider's default.
             */
            temperature?: number;
        };
        ModelSettingsPatch: {
            /** @description Tokens that a response may have at most. Absent: as many as the model writes. Under a budget exactly this much is set aside for a call. */
            maxOutputTokens?: number | null;
            /** @description How long it thinks first. For models whose `features` have `reasoning`. */
            reasoning?: ("low" | "medium" | "high") | null;
            /** @description How freely it chooses its words, from 0 to 2. Absent: the provider's default. */
            temperature?: number | null;
        };
        ModelTarget: {
            /** @description Id of the target: what `failureDetails.targetId` points at. */
            id: string;
            /** @description Image formats that it takes. */
            inputFormats: ("jpeg" | "png" | "gif" | "webp")[];
            /** @description Provider that serves it. */
            provider: string;
        };
        ModelUsage: {
            /**
             * Format: int64
             * @description Input tokens that a provider read from its cache.
             */
            cacheReadTokens?: number;
            /**
             * Format: int64
             * @description Input tokens that a provider wrote to its cache.
             */
            cacheWriteTokens?: number;
            /**
             * Format: double
             * @description Cost of all of them, in USD. Absent where the price of a part is not known.
             */
            estimatedCost?: number;
            /**
             * Format: int64
             * @description Tokens that went into models.
             */
            inputTokens: number;
            /**
             * Format: int64
             * @description Tokens that came out of models.
             */
            outputTokens: number;
            /**
             * Format: int64
             * @description Output tokens that a model spent on reasoning.
             */
            reasoningTokens?: number;
            /**
             * Format: int64
             * @description All tokens, in and out.
             */
            totalTokens: number;
        };
        ModelUsageInput: {
            /**
             * Format: int64
             * @description Input tokens that a provider read from its cache.
             */
            cacheReadTokens?: number;
            /**
             * Format: int64
             * @description Input tokens that a provider wrote to its cache.
             */
            cacheWriteTokens?: number;
            /**
             * Format: double
             * @description Cost of all of them, in USD. Absent where the price of a part is not known.
             */
            estimatedCost?: number;
            /**
             * Format: int64
             * @description Tokens that went into models.
             */
            inputTokens: number;
            /**
             * Format: int64
             * @description Tokens that came out of models.
             */
            outputTokens: number;
            /**
             * Format: int64
             * @description Output tokens that a model spent on reasoning.
             */
            reasoningTokens?: number;
            /**
             * Format: int64
             * @description All tokens, in and out.
             */
            totalTokens: number;
        };
        Node: {
            /**
             * Format: int64
             * @description Number of actors in its memory.
             */
            actors: number;
            /**
             * @description How it hears of other nodes' work.
             * @enum {string}
             */
            bus: "in-process" | "connected" | "disconnected" | "unknown";
            /** @description Whether it is on its way out. */
            draining: boolean;
            /** @description Id of the node's life: a new one after every start and every lost lease. */
            incarnation: string;
            /**
             * Format: int64
             * @description Milliseconds since its last beat.
             */
            leaseAgeMs: number;
            /** @description Name of the node, TROUPE_NODE_ID: the same over restarts. */
            name: string;
            /**
             * Format: int64
             * @description How many of the 4,096 shards are placed on it: it is to have their actors.
             */
            shards: number;
            /**
             * Format: date-time
             * @description When this life began.
             */
            since: string;
            /** @description Version of Troupe that it runs. */
            version: string;
        };
        NodeList: {
            /** @description Nodes whose leases are alive, by name. */
            nodes: components["schemas"]["Node"][];
        };
        OfferedTool: {
            /** @description Hints of the tool's maker about its effects. */
            annotations?: components["schemas"]["ToolAnnotations"];
            /** @description The tool's purpose, in words for the model. */
            description?: string;
            /** @description How the MCP server wants the tool to be called. Absent: by an ordinary call. */
            execution?: components["schemas"]["ToolExecution"];
            /** @description JSON Schema of the tool's input. */
            inputSchema: unknown;
            /** @description Name of the tool within its namespace. */
            name: string;
            /** @description JSON Schema of the tool's output. Absent: any output is taken. */
            outputSchema?: unknown;
            /**
             * Format: int64
             * @description How long its call, or the wait for its client, may take, in milliseconds.
             */
            timeoutMs: number;
        };
        Operation: {
            /** @description Action that was asked for, as `noun.verb`, such as `agent.update`. */
            action: string;
            /** @description Agent that the action is about, else the agent that asked. */
            agentId?: string;
            /**
             * Format: date-time
             * @description When it was asked for.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description Until when it can be decided: 24 hours after it was asked for.
             */
            expiresAt: string;
            /** @description Id of the operation. */
            id: string;
            /** @description The request, as it was sent. Only for who asked, and for credentials with the scope `approve`. */
            request?: unknown;
            /** @description Who asked. Only for who asked, and for credentials with the scope `approve`. */
            requestedBy?: components["schemas"]["Principal"];
            /**
             * Format: date-time
             * @description When it left `pending`.
             */
            resolvedAt?: string;
            /** @description Who decided it. Absent where time did. */
            resolvedBy?: components["schemas"]["Principal"];
            /** @description The answer of the call, as if it had not parked. Only in terminal states; the result of a read only for who asked, and for credentials with the scope `approve`. */
            result?: components["schemas"]["OperationResult"];
            /**
             * @description `pending` waits for approval, `approved` is being carried out. Nothing leaves the others.
             * @enum {string}
             */
            state: "pending" | "approved" | "completed" | "failed" | "denied" | "expired" | "cancelled";
        };
        OperationDecision: {
            /** @description Why, in words for people. At most 1024 bytes of UTF-8. */
            reason?: string;
        };
        OperationHandle: {
            /** @description The request that is, or was, parked for approval. */
            operation: components["schemas"]["Operation"];
        };
        OperationPage: {
            /** @description Present while more rows remain: passed back as `cursor`, it gives the next page. */
            nextCursor?: string;
            /** @description Operations of this page, newest first. */
            operations: components["schemas"]["Operation"][];
        };
        OperationResult: {
            /** @description Body that the direct call would have answered with; null without one. */
            body: unknown;
            /**
             * Format: int64
             * @description HTTP status that the direct call would have answered with.
             */
            status: number;
        };
        Origin: {
            /** @description The provider's id of the channel. At most 512 bytes of UTF-8. */
            channelId?: string;
            /** @description The provider's id of the message. At most 512 bytes of UTF-8. */
            messageId?: string;
            /**
             * @description The chat provider that the event comes from.
             * @enum {string}
             */
            provider: "slack";
            /** @description The provider's id of the sender. At most 512 bytes of UTF-8. */
            senderId: string;
            /** @description The provider's id of the tenant, such as its workspace. At most 512 bytes of UTF-8. */
            tenantId: string;
            /** @description The provider's id of the thread. At most 512 bytes of UTF-8. */
            threadId?: string;
        };
        PendingToolCall: {
            /** @description Agent that calls. */
            agentId: string;
            /**
             * Format: date-time
             * @description When the call began to wait.
             */
            createdAt: string;
            /**
             * Format: date-time
             * @description Until when a result is taken.
             */
            expiresAt: string;
            /** @description Thread of the call. */
            threadId: string;
            /** @description Id of the call, which its result is given by. */
            toolCallId: string;
            /** @description Input of the call, as the model gave it: it fits the tool's input schema. */
            toolInput: unknown;
            /** @description The tool to execute, as `namespace.tool`. */
            toolName: string;
            /** @description Toolset of the tool. */
            toolsetId?: string;
            /** @description Turn that is parked on the call. */
            turnId: string;
            /** @description The wait that the result ends. */
            waitId: string;
        };
        PendingWait: {
            /**
             * Format: date-time
             * @description Until when it can be answered.
             */
            expiresAt?: string;
            /** @description The hook that asks. Absent for others. */
            hookId?: string;
            /** @description Id of the wait. */
            id: string;
            /**
             * @description Where in the turn the question came up.
             * @enum {string}
             */
            point?: "before_turn_start" | "before_tool_call" | "after_tool_result" | "after_model_response";
            /**
             * @description Who was asked first: an endpoint, another agent, or a client.
             * @enum {string}
             */
            processor?: "url" | "agent" | "client";
            /** @description Why a person is asked, in words for people. */
            reason?: string;
            /**
             * @description Whether it still waits, and what became of it.
             * @enum {string}
             */
            state: "open" | "resolved" | "expired" | "cancelled";
            /**
             * @description Who is expected to answer.
             * @enum {string}
             */
            target: "person" | "client" | "url" | "agent";
            /** @description The call that it is about. */
            toolCallId?: string;
            /** @description Input of the call, as the model gave it. */
            toolInput?: unknown;
            /** @description The tool that is called, as `namespace.tool`. */
            toolName?: string;
            /** @description Toolset of the tool. Absent for built-in tools. */
            toolsetId?: string;
            /** @description Turn that is parked on it. */
            turnId: string;
            /**
             * @description Kind of the answer: the result of a client's tool, or a decision that a hook or a role asks for.
             * @enum {string}
             */
            type: "client_tool" | "hook_ask" | "role_approval";
        };
        Principal: {
            /** @description Id of the actor: of a key, agent, schedule or subscription. */
            id: string;
            /** @description Provenance: the identity that it acted as. At most 512 bytes of UTF-8 without control characters, once surrounding whitespace is trimmed. */
            identity?: string;
            /** @description A trigger's description of an event outside. It carries no authority. */
            origin?: components["schemas"]["Origin"];
            /**
             * @description Kind of the principal.
             * @enum {string}
             */
            type: "user" | "api_key" | "agent" | "schedule" | "trigger" | "subscription";
        };
        PrincipalInput: {
            /** @description Id of the actor: of a key, agent, schedule or subscription. */
            id: string;
            /** @description Provenance: the identity that it acted as. At most 512 bytes of UTF-8 without control characters, once surrounding whitespace is trimmed. */
            identity?: string;
            /** @description A trigger's description of an event outside. It carries no authority. */
            origin?: components["schemas"]["Origin"];
            /**
             * @description Kind of the principal.
             * @enum {string}
             */
            type: "user" | "api_key" | "agent" | "schedule" | "trigger" | "subscription";
        };
        Profile: {
            /**
             * Format: date-time
             * @description Since when no agent may follow it and nothing changes it. Absent while it is in use.
             */
            archivedAt?: string;
            /** @description When a conversation gives way to a summary of its beginning. */
            compaction: components["schemas"]["CompactionSettings"];
            /**
             * Format: date-time
             * @description When the profile was made.
             */
            createdAt: string;
            /** @description The profile's purpose, in words for people. */
            description?: string;
            /** @description Families of built-in tools that the agent may be offered. This server has `thread`, `agents`, `connections`, `memory`, `feeds` and `subscriptions`. */
            families?: ("agents" | "connections" | "thread" | "memory" | "artifacts" | "sites" | "web" | "schedules" | "feeds" | "subscriptions" | "sandbox")[];
            /**
             * @description Whether the model sees the tools of families from the start, or only once `tool_search` has revealed their family. `search` when absent.
             * @enum {string}
             */
            familyExposure: "search" | "always";
            /** @description Hooks that judge what happens in a turn, asked in this order. */
            hooks: components["schemas"]["Hook"][];
            /** @description Id of the profile: the same in all its versions. */
            id: string;
            /** @description Bounds of a turn. */
            limits: components["schemas"]["ProfileLimits"];
            /** @description Rights of the agent in the memory stores, by tools of the family `memory` and under its leases. */
            memory: components["schemas"]["ProfileMemory"];
            /** @description Models to use, tried in this order: exact ids, `provider/*` or `@alias`. */
            models: string[];
            /** @description The profile's name, for people. */
            name: string;
            /** @description Roles that say which calls are allowed. Absent: the built-in role `all_tools`. Empty: no call is. */
            roleIds: string[];
            /** @description How the models write. Absent: as they do by default. */
            sampling?: components["schemas"]["ModelSettings"];
            /** @description Instructions at the beginning of every model call of the agent. */
            systemPrompt?: string;
            /** @description Toolsets whose tools the agent may be offered. */
            toolsetIds: string[];
            /**
             * Format: date-time
             * @description When this version was made.
             */
            updatedAt: string;
            /**
             * Format: int64
             * @description Number of this version, from 1.
             */
            version: number;
        };
        ProfileAnswer: {
            /** @description The profile, in one version. */
            profile: components["schemas"]["Profile"];
        };
        ProfileInput: {
            /** @description When a conversation gives way to a summary of its beginning. */
            compaction?: components["schemas"]["CompactionInput"];
            /** @description The profile's purpose, in words for people. At most 4096 bytes of UTF-8. */
            description?: string;
            /** @description Families of built-in tools that the agent may be offered. This server has `thread`, `agents`, `connections`, `memory`, `feeds` and `subscriptions`. */
            families?: ("agents" | "connections" | "thread" | "memory" | "schedules" | "feeds" | "subscriptions")[];
            /**
             * @description Whether the model sees the tools of families from the start, or only once `tool_search` has revealed their family. `search` when absent.
             * @enum {string}
             */
            familyExposure?: "search" | "always";
            /** @description Hooks that judge what happens in a turn, asked in this order. Each id stands once. */
            hooks?: components["schemas"]["HookInput"][];
            /** @description Bounds of a turn. */
            limits?: {
                /** @description Tool calls that a turn may run at once. 8 when absent. */
                maxParallelTools?: number;
                /** @description Model responses that a turn may take. 50 when absent. */
                maxSteps?: number;
                /** @description Seconds that a turn may run; they begin anew whenever it leaves a wait. 3600 when absent. */
                maxTurnSeconds?: number;
            };
            /** @description Rights of the agent in the memory stores, by tools of the family `memory` and under its leases. */
            memory?: {
                /**
                 * @description Rights in its own store: read and write, read, or nothing. `rw` when absent.
                 * @enum {string}
                 */
                agent?: "rw" | "r" | "off";
                /**
                 * @description Rights in the store of the workspace: read and write, read, or nothing. `r` when absent.
                 * @enum {string}
                 */
                workspace?: "rw" | "r" | "off";
            };
            /** @description Models to use, tried in this order: exact ids, `provider/*` or `@alias`. */
            models: components["schemas"]["ModelSelector"][];
            /** @description The profile's name, for people. */
            name: string;
            /** @description Roles that say which calls are allowed. Absent: the built-in role `all_tools`. Empty: no call is. */
            roleIds?: string[];
            /** @description How the models write. Absent: as they do by default. */
            sampling?: components["schemas"]["ModelSettingsInput"];
            /** @description Instructions at the beginning of every model call of the agent. At most 4096 bytes of UTF-8. */
            systemPrompt?: string;
            /** @description Toolsets whose tools the agent may be offered. */
            toolsetIds?: string[];
        };
        ProfileLimits: {
            /** @description Tool calls that a turn may run at once. 8 when absent. */
            maxParallelTools: number;
            /** @description Model responses that a turn may take. 50 when absent. */
            maxSteps: number;
            /** @description Seconds that a turn may run; they begin anew whenever it leaves a wait. 3600 when absent. */
            maxTurnSeconds: number;
        };
        ProfileMemory: {
            /**
             * @description Rights in its own store: read and write, read, or nothing. `rw` when absent.
             * @enum {string}
             */
            agent: "rw" | "r" | "off";
            /**
             * @description Rights in the store of the workspace: read and write, read, or nothing. `r` when absent.
             * @enum {string}
             */
            workspace: "rw" | "r" | "off";
        };
        ProfilePage: {
            /** @description Present while more rows remain: passed back as `cursor`, it gives the next page. */
            nextCursor?: string;
            /** @description Profiles of this page, newest first, each in its latest version. */
            profiles: components["schemas"]["Profile"][];
        };
        ProfilePatch: {
            /** @description When a conversation gives way to a summary of its beginning. */
            compaction?: components["schemas"]["CompactionPatch"] | null;
            /** @description The profile's purpose, in words for people. */
            description?: string | null;
            /** @description Families of built-in tools that the agent may be offered. This server has `thread`, `agents`, `connections`, `memory`, `feeds` and `subscriptions`. */
            families?: ("agents" | "connections" | "thread" | "memory" | "schedules" | "feeds" | "subscriptions")[] | null;
            /** @description Whether the model sees the tools of families from the start, or only once `tool_search` has revealed their family. `search` when absent. */
            familyExposure?: ("search" | "always") | null;
            /** @description Hooks that judge what happens in a turn, asked in this order. */
            hooks?: components["schemas"]["HookInput"][] | null;
            /** @description Bounds of a turn. */
            limits?: {
                /** @description Tool calls that a turn may run at once. 8 when absent. */
                maxParallelTools?: number | null;
                /** @description Model responses that a turn may take. 50 when absent. */
                maxSteps?: number | null;
                /** @description Seconds that a turn may run; they begin anew whenever it leaves a wait. 3600 when absent. */
                maxTurnSeconds?: number | null;
            } | null;
            /** @description Rights of the agent in the memory stores, by tools of the family `memory` and under its leases. */
            memory?: {
                /** @description Rights in its own store: read and write, read, or nothing. `rw` when absent. */
                agent?: ("rw" | "r" | "off") | null;
                /** @description Rights in the store of the workspace: read and write, read, or nothing. `r` when absent. */
                workspace?: ("rw" | "r" | "off") | null;
            } | null;
            /** @description Models to use, tried in this order: exact ids, `provider/*` or `@alias`. */
            models?: components["schemas"]["ModelSelector"][];
            /** @description The profile's name, for people. */
            name?: string;
            /** @description Roles that say which calls are allowed. Absent: the built-in role `all_tools`. Empty: no call is. */
            roleIds?: string[] | null;
            /** @description How the models write. Absent: as they do by default. */
            sampling?: components["schemas"]["ModelSettingsPatch"] | null;
            /** @description Instructions at the beginning of every model call of the agent. */
            systemPrompt?: string | null;
            /** @description Toolsets whose tools the agent may be offered. */
            toolsetIds?: string[] | null;
        };
        ProfileVersionPage: {
            /** @description Present while more rows remain: passed back as `cursor`, it gives the next page. */
            nextCursor?: string;
            /** @description Versions of this page, newest first. */
            versions: components["schemas"]["Profile"][];
        };
        ProfileWritten: {
            /** @description The profile, in one version. */
            profile: components["schemas"]["Profile"];
            /** @description Selectors of models that select nothing on this server today: the profile is stored all the same. Absent where each one selects something. [ext] */
            warnings?: components["schemas"]["Warning"][];
        };
        Promotion: {
            /** @description Turn that has to be the active one: with another, or none, the request is refused with 409. */
            expectedTurnId?: string;
            /**
             * @description Mode of the input from now on.
             * @enum {string}
             */
            mode: "steer" | "interrupt";
        };
        QueuedMessage: {
            /** @description The message. At most 20 image blocks, with different ids. */
            content: (components["schemas"]["TextBlock"] | components["schemas"]["ImageBlock"])[];
            /** @description The inputId of the queue's paths. */
            id: string;
            /** @description Model that was asked for with the message. [ext] */
            model?: string;
            /** @description Whose words these are: who sent the message, or edited it last. */
            principal: components["schemas"]["Principal"];
            /**
             * Format: date-time
             * @description When the message was submitted.
             */
            queuedAt: string;
            /**
             * @description How the message was submitted, or promoted since.
             * @enum {string}
             */
            submitMode: "queue" | "steer" | "interrupt";
            /** @description Who sent it first, where that is somebody else. [ext] */
            submittedBy?: components["schemas"]["Principal"];
            /** @description Turn that the message begins, or joins. */
            turnId: string;
        };
        ResendInput: {
            /**
             * Format: date-time
             * @description Deliveries of events that happened at this moment or later. In the years 0 to 9999 of UTC.
             */
            from: string;
            /**
             * Format: date-time
             * @description And before this one. Absent: until now. In the years 0 to 9999 of UTC.
             */
            to?: string;
        };
        ResentAnswer: {
            /**
             * Format: int64
             * @description How many deliveries are due again.
             */
            count: number;
        };
        ResolvedWait: {
            /**
             * Format: int64
             * @description Seq of its `wait_resolved` event.
             */
            seq: number;
            /** @description The wait, as it ended. */
            wait: components["schemas"]["Wait"];
        };
        Retention: {
            /** @description For how many seconds a message is kept. */
            maxAgeSeconds?: number;
            /** @description How many of the newest messages are kept. */
            maxMessages?: number;
        };
        RetentionInput: {
            /** @description For how many seconds a message is kept. */
            maxAgeSeconds?: number;
            /** @description How many of the newest messages are kept. */
            maxMessages?: number;
        };
        ReuseTarget: {
            /**
             * @description Tells the kinds apart.
             * @enum {string}
             */
            mode: "reuse";
        };
        ReuseTargetInput: {
            /**
             * @description Tells the kinds apart.
             * @enum {string}
             */
            mode: "reuse";
        };
        RevealedModelTool: {
            /** @description The tool's purpose, in words for the model. */
            description?: string;
            /** @description Name that the model calls the tool by. */
            name: string;
            /** @description JSON Schema of the tool's input. */
            schema: unknown;
        };
        RevealedTool: {
            /** @description The tool as the model is told of it. */
            def?: components["schemas"]["RevealedModelTool"];
            /** @description Name of the tool within its namespace. */
            name: string;
            /** @description Namespace of the toolset. */
            namespace: string;
            /** @description Toolset of the tool. */
            toolsetId: string;
        };
        Role: {
            /** @description Calls that it allows. What no role of a profile allows is denied. */
            allow: components["schemas"]["Grant"][];
            /**
             * @description True for the three roles that every workspace has and nobody can change.
             * @enum {boolean}
             */
            builtIn?: true;
            /**
             * Format: date-time
             * @description When the role was made: 1970 for built-in ones.
             */
            createdAt: string;
            /** @description Who made the role. Absent for built-in ones. */
            createdBy?: components["schemas"]["Principal"];
            /** @description Calls that it denies. No other role can allow them. */
            deny: components["schemas"]["Denial"][];
            /** @description The role's purpose, in words for people. */
            description?: string;
            /** @description Id of the role, which profiles name. */
            id: string;
            /** @description The role's name, for people. */
            name: string;
            /**
             * Format: date-time
             * @description When it last changed.
             */
            updatedAt: string;
        };
        RoleAnswer: {
            /** @description The role. */
            role: components["schemas"]["Role"];
        };
        RoleDecision: {
            /**
             * @description A person would have to approve it.
             * @enum {string}
             */
            approval?: "required";
            /** @description Role that decided. Absent where no role has anything about the call. */
            by?: string;
            /**
             * @description Whether the call would be allowed.
             * @enum {string}
             */
            decision: "allow" | "deny";
            /** @description Every grant and denial that is about the call. */
            matched: components["schemas"]["RoleMatch"][];
            /** @description Why, in words for people. */
            reason: string;
        };
        RoleInput: {
            /** @description Calls that it allows. What no role of a profile allows is denied. */
            allow?: components["schemas"]["GrantInput"][];
            /** @description Calls that it denies. No other role can allow them. */
            deny?: components["schemas"]["DenialInput"][];
            /** @description The role's purpose, in words for people. At most 4096 bytes of UTF-8. */
            description?: string;
            /** @description The role's name, for people. */
            name: string;
        };
        RoleMatch: {
            /**
             * @description The entry wants an approval.
             * @enum {string}
             */
            approval?: "required";
            /**
             * Format: int64
             * @description Place of the entry in its list, from 0.
             */
            index: number;
            /**
             * @description Which of its lists the entry stands in.
             * @enum {string}
             */
            list: "allow" | "deny";
            /** @description The role. */
            roleId: string;
        };
        RolePage: {
            /** @description Present while more rows remain: passed back as `cursor`, it gives the next page. */
            nextCursor?: string;
            /** @description Roles of this page: the built-in ones first, then newest first. */
            roles: components["schemas"]["Role"][];
        };
        RolePatch: {
            /** @description Calls that it allows. What no role of a profile allows is denied. */
            allow?: components["schemas"]["GrantInput"][] | null;
            /** @description Calls that it denies. No other role can allow them. */
            deny?: components["schemas"]["DenialInput"][] | null;
            /** @description The role's purpose, in words for people. */
            description?: string | null;
            /** @description The role's name, for people. */
            name?: string;
        };
        RoleQuestion: {
            /** @description Input that it would be given. Absent: none. */
            input?: unknown;
            /** @description Profile whose roles to ask, those of its latest version. Either this or `roleIds`. */
            profileId?: string;
            /** @description Whether its server marks it as read-only. False when absent. */
            readOnly?: boolean;
            /** @description Roles to ask. Either these or `profileId`. */
            roleIds?: string[];
            /** @description The tool that would be called, as `namespace.tool`. At most 512 bytes of UTF-8. */
            tool: string;
        } & (({
            roleIds: unknown;
        } & {
            [key: string]: unknown;
        }) | ({
            profileId: unknown;
        } & {
            [key: string]: unknown;
        }));
        RotateWebhookInput: {
            /** @description For how long the secret before signs beside the new one. 86400 when absent. */
            overlapSeconds?: number;
        };
        SampleMessage: {
            /** @description Its data. */
            data?: unknown;
            /** @description Who appended it. Absent: the caller. */
            principal?: components["schemas"]["PrincipalInput"];
            /** @description Its tags. */
            tags?: string[];
            /** @description The message's text. At most 32768 bytes of UTF-8. */
            text: string;
        };
        Schedule: {
            /** @description Agent that gets the message. */
            agentId: string;
            /**
             * Format: int64
             * @description How old the newest instant that was missed may be and still fire.
             */
            catchUpSeconds: number;
            /**
             * Format: date-time
             * @description When it was made.
             */
            createdAt: string;
            /** @description Who made it. */
            createdBy: components["schemas"]["Principal"];
            /** @description Why it does not fire any more, where nobody has switched it off: `finished`, `failures`, `agent_archived`, `thread_archived`, `thread_not_found` or `poisoned`. */
            disabledReason?: string;
            /** @description Whether it fires. */
            enabled: boolean;
            /**
             * Format: date-time
             * @description Behind this moment it has no instants.
             */
            endAt?: string;
            /** @description Id of the schedule. */
            id: string;
            /** @description Identity that its turns work for. Absent: the identity of its maker, if it has one. */
            identity?: string;
            /**
             * Format: int64
             * @description Up to how many seconds later it fires, by instant: spreads the load of many schedules.
             */
            jitterSeconds: number;
            /**
             * Format: date-time
             * @description When it fired last, or was skipped.
             */
            lastRunAt?: string;
            /**
             * @description Status of the last run.
             * @enum {string}
             */
            lastStatus?: "started" | "skipped" | "failed";
            /** @description Thread of the last turn that it began. */
            lastThreadId?: string;
            /** @description The last turn that it began. */
            lastTurnId?: string;
            /**
             * Format: double
             * @description USD that each thread that it makes may cost.
             */
            maxCost?: number;
            /** @description The message. */
            message: {
                /** @description The message. */
                content: components["schemas"]["MessageContent"];
            };
            /** @description Model for the turns. Absent: the thread's, or the profile's. */
            model?: string;
            /** @description The schedule's name, for people. */
            name: string;
            /** @description The next instants, at most five, without jitter. */
            nextInstants: string[];
            /**
             * @description How an instant goes while the turn that the schedule began last still runs or waits: the instant is skipped, one waits for the end, the turn is cancelled first, or both run.
             * @enum {string}
             */
            overlap: "skip" | "queue" | "interrupt" | "allow";
            /**
             * @description How the message reaches a turn that runs in the target thread.
             * @enum {string}
             */
            submitMode: "queue" | "steer" | "interrupt";
            /** @description Where its message goes: into a thread of its own each time, or into one thread. */
            target: components["schemas"]["ScheduleTarget"];
            /** @description When it fires. */
            trigger: components["schemas"]["Trigger"];
            /**
             * Format: date-time
             * @description When it was last changed by somebody.
             */
            updatedAt: string;
        };
        ScheduleAnswer: {
            /** @description The schedule. */
            schedule: components["schemas"]["Schedule"];
        };
        ScheduleCadence: {
            /** @description Cron expression of five fields, or a word such as `@daily`. */
            expression: string;
            /**
             * @description Tells the kinds apart.
             * @enum {string}
             */
            mode: "schedule";
            /** @description Name of the IANA database, such as `Europe/Berlin`. */
            timezone: string;
        };
        ScheduleCadenceInput: {
            /** @description Cron expression of five fields, or a word such as `@daily`. */
            expression: string;
            /**
             * @description Tells the kinds apart.
             * @enum {string}
             */
            mode: "schedule";
            /** @description Name of the IANA database, such as `Europe/Berlin`. */
            timezone: string;
        };
        ScheduleInput: {
            /** @description How old the newest instant that was missed may be and still fire. 3600 when absent. */
            catchUpSeconds?: number;
            /** @description Whether it fires. True when absent. */
            enabled?: boolean;
            /**
             * Format: date-time
             * @description Behind this moment it has no instants. In the years 0 to 9999 of UTC.
             */
            endAt?: string;
            /** @description Identity that its turns work for. Absent: the identity of its maker, if it has one. At most 512 bytes of UTF-8 without control characters, once surrounding whitespace is trimmed. */
            identity?: string;
            /** @description Up to how many seconds later it fires, by instant: spreads the load of many schedules. 0 when absent. */
            jitterSeconds?: number;
            /**
             * Format: double
             * @description USD that each thread that it makes may cost.
             */
            maxCost?: number;
            /** @description The message. */
            message: {
                /** @description The message. */
                content: components["schemas"]["MessageContent"];
            };
            /** @description Model for the turns. Absent: the thread's, or the profile's. */
            model?: components["schemas"]["ModelSelector"];
            /** @description The schedule's name, for people. */
            name: string;
            /**
             * @description How an instant goes while the turn that the schedule began last still runs or waits: the instant is skipped, one waits for the end, the turn is cancelled first, or both run. `skip` when absent.
             * @enum {string}
             */
            overlap?: "skip" | "queue" | "interrupt" | "allow";
            /**
             * @description How the message reaches a turn that runs in the target thread. `queue` when absent.
             * @enum {string}
             */
            submitMode?: "queue" | "steer" | "interrupt";
            /** @description Where its message goes: into a thread of its own each time, or into one thread. */
            target: components["schemas"]["ScheduleTargetInput"];
            /** @description When it fires. */
            trigger: components["schemas"]["TriggerInput"];
        };
        SchedulePage: {
            /** @description Present while more rows remain: passed back as `cursor`, it gives the next page. */
            nextCursor?: string;
            /** @description Schedules of this page, newest first. */
            schedules: components["schemas"]["Schedule"][];
        };
        SchedulePatch: {
            /** @description How old the newest instant that was missed may be and still fire. */
            catchUpSeconds?: number | null;
            /** @description Whether it fires. */
            enabled?: boolean | null;
            /** @description Behind this moment it has no instants. */
            endAt?: string | null;
            /** @description Identity that its turns work for. Absent: the identity of its maker, if it has one. */
            identity?: string | null;
            /** @description Up to how many seconds later it fires, by instant: spreads the load of many schedules. */
            jitterSeconds?: number | null;
            /** @description USD that each thread that it makes may cost. */
            maxCost?: number | null;
            /** @description The message. */
            message?: {
                /** @description The message. */
                content: components["schemas"]["MessageContent"];
            };
            /** @description Model for the turns. Absent: the thread's, or the profile's. */
            model?: components["schemas"]["ModelSelector"] | null;
            /** @description The schedule's name, for people. */
            name?: string;
            /** @description How an instant goes while the turn that the schedule began last still runs or waits: the instant is skipped, one waits for the end, the turn is cancelled first, or both run. */
            overlap?: ("skip" | "queue" | "interrupt" | "allow") | null;
            /** @description How the message reaches a turn that runs in the target thread. */
            submitMode?: ("queue" | "steer" | "interrupt") | null;
            /** @description Where its message goes: into a thread of its own each time, or into one thread. */
            target?: components["schemas"]["ScheduleTargetInput"];
            /** @description When it fires. */
            trigger?: {
                /**
                 * Format: date-time
                 * @description For type `once` only. In the years 0 to 9999 of UTC.
                 */
                at?: string;
                /** @description For type `cron` only. */
                expression?: string;
                /** @description For type `interval` only. */
                seconds?: number;
                /** @description For type `interval` only. */
                startAt?: string | null;
                /** @description For type `cron` only. */
                timezone?: string;
                /**
                 * @description Which kind of trigger.
                 * @enum {string}
                 */
                type?: "cron" | "interval" | "once";
            };
        };
        ScheduleRun: {
            /**
             * @description Whether its moment came, or somebody asked for it.
             * @enum {string}
             */
            by: "schedule" | "manual";
            /**
             * Format: int64
             * @description How many instants were missed, up to 10,000.
             */
            count?: number;
            /** @description Id of the run. */
            id: string;
            /** @description Why it was skipped, or has failed. */
            reason?: string;
            /**
             * Format: date-time
             * @description The instant, without jitter; of a run by hand, when it was asked for.
             */
            scheduledAt: string;
            /** @description The schedule. */
            scheduleId: string;
            /**
             * Format: date-time
             * @description When the message was accepted.
             */
            startedAt?: string;
            /**
             * @description `started` says that the message was accepted, not that its turn succeeded.
             * @enum {string}
             */
            status: "starting" | "started" | "skipped" | "failed";
            /** @description Thread that the message went to. */
            threadId?: string;
            /** @description Turn that the message opens, or has joined. */
            turnId?: string;
        };
        ScheduleRunAnswer: {
            /** @description The run. */
            run: components["schemas"]["ScheduleRun"];
        };
        ScheduleRunPage: {
            /** @description Present while more rows remain: passed back as `cursor`, it gives the next page. */
            nextCursor?: string;
            /** @description Runs of this page, newest first. */
            runs: components["schemas"]["ScheduleRun"][];
        };
        ScheduleTarget: {
            /**
             * @description A new thread each time.
             * @enum {string}
             */
            mode: "spawn";
        } | {
            /**
             * @description The same thread each time.
             * @enum {string}
             */
            mode: "thread";
            /** @description The thread. It must be one of the same agent. */
            threadId: string;
        };
        ScheduleTargetInput: {
            /**
             * @description A new thread each time.
             * @enum {string}
             */
            mode: "spawn";
        } | {
            /**
             * @description The same thread each time.
             * @enum {string}
             */
            mode: "thread";
            /** @description The thread. It must be one of the same agent. */
            threadId: string;
        };
        Screen: {
            /** @description Which messages are worth a turn, in words for the model. At most 4096 bytes of UTF-8. */
            instructions?: string;
            /** @description Model that is asked, on the agent's budget. */
            model: components["schemas"]["ModelSelector"];
        };
        ScreenInput: {
            /** @description Which messages are worth a turn, in words for the model. At most 4096 bytes of UTF-8. */
            instructions?: string;
            /** @description Model that is asked, on the agent's budget. */
            model: components["schemas"]["ModelSelector"];
        };
        /** @description Names that HTTP, MCP or this server use themselves are refused. */
        SecretHeader: string;
        SpawnTarget: {
            /**
             * @description Tells the kinds apart.
             * @enum {string}
             */
            mode: "spawn";
        };
        SpawnTargetInput: {
            /**
             * @description Tells the kinds apart.
             * @enum {string}
             */
            mode: "spawn";
        };
        StepFact: {
            /**
             * Format: int64
             * @description Seq of the event. Absent where the fact is no event.
             */
            seq?: number;
            /** @description Type of the fact: for events their type, for others their name in the journal. */
            type: string;
        };
        SubmittedMessage: {
            /** @description The message. At most 20 image blocks, with different ids. */
            content: (components["schemas"]["TextBlock"] | components["schemas"]["ImageBlock"])[];
            /** @description The inputId of the queue's paths. */
            id: string;
            /** @description Model that was asked for with the message. [ext] */
            model?: string;
            /** @description Whose words these are: who sent the message, or edited it last. */
            principal: components["schemas"]["Principal"];
            /**
             * Format: date-time
             * @description When the message was submitted.
             */
            queuedAt: string;
            /**
             * Format: int64
             * @description Seq of its `user_message`, once it is admitted.
             */
            seq?: number;
            /**
             * @description `queued`: it waits its turn. `steered`: it waits for the running turn's next model call. `admitted`: it is in the log, at `seq`.
             * @enum {string}
             */
            state: "queued" | "steered" | "admitted";
            /**
             * @description How the message was submitted, or promoted since.
             * @enum {string}
             */
            submitMode: "queue" | "steer" | "interrupt";
            /** @description Who sent it first, where that is somebody else. [ext] */
            submittedBy?: components["schemas"]["Principal"];
            /** @description Turn that the message begins, or joins. */
            turnId: string;
        };
        Subscription: {
            /** @description The agent that gets the messages. */
            agentId: string;
            /** @description When messages are handed over. `immediate` when absent. */
            cadence: components["schemas"]["ImmediateCadence"] | components["schemas"]["WindowCadence"] | components["schemas"]["ScheduleCadence"];
            /** @description CEL over `text`, `tags`, `data`, `principal`, `seq` and `appendedAt` of one message, that says whether it matches. Absent or empty: every message does. */
            condition: string;
            /**
             * Format: date-time
             * @description When it was made.
             */
            createdAt: string;
            /** @description Who made it. */
            createdBy: components["schemas"]["Principal"];
            /**
             * Format: int64
             * @description Everything up to this seq is dealt with.
             */
            cursor: number;
            /** @description Why it was disabled, where nobody has asked for that: `feed_archived`, `agent_archived`, `thread_archived`, `thread_not_found`, `failures` or `poisoned`. */
            disabledReason?: string;
            /** @description Whether it looks at what comes. */
            enabled: boolean;
            /**
             * Format: date-time
             * @description Since when the feed takes no messages any more.
             */
            feedArchivedAt?: string;
            /** @description The feed whose messages it looks at. */
            feedId: string;
            /** @description The feed's name as of now. */
            feedName: string;
            /** @description Id of the subscription. */
            id: string;
            /** @description The identity that its turns act for. */
            identity?: string;
            /** @description Whether messages of its own agent count. False when absent. */
            includeSelf: boolean;
            /** @description Instructions for the agent, said before the messages. */
            intent: string;
            /**
             * Format: date-time
             * @description When messages were judged last.
             */
            lastEvaluatedAt?: string;
            /**
             * @description Why messages that match were dismissed.
             * @enum {string}
             */
            lastReason?: "hop_limit" | "identity_disabled" | "messages_trimmed";
            /**
             * @description Outcome of the last messages: `escalated` was handed over, `dismissed` was not to be, `failed` is tried again.
             * @enum {string}
             */
            lastStatus?: "escalated" | "dismissed" | "failed";
            /** @description The thread that has got the last ones. */
            lastThreadId?: string;
            /** @description The turn of that. */
            lastTurnId?: string;
            /** @description The subscription's name, for people. */
            name?: string;
            /**
             * Format: date-time
             * @description When the window ends, or the next attempt is made.
             */
            nextAt?: string;
            /**
             * Format: int64
             * @description Messages behind the cursor.
             */
            pendingCount: number;
            /** @description A model that is asked first whether the messages are worth a turn. */
            screen?: components["schemas"]["Screen"];
            /** @description Which thread they are handed to. `spawn` when absent. */
            target: components["schemas"]["SpawnTarget"] | components["schemas"]["ThreadTarget"] | components["schemas"]["ReuseTarget"];
            /**
             * Format: date-time
             * @description When it was changed last.
             */
            updatedAt: string;
            /** @description Workspace of both. */
            workspaceId: string;
        };
        SubscriptionInput: {
            /** @description When messages are handed over. `immediate` when absent. */
            cadence?: components["schemas"]["ImmediateCadenceInput"] | components["schemas"]["WindowCadenceInput"] | components["schemas"]["ScheduleCadenceInput"];
            /** @description CEL over `text`, `tags`, `data`, `principal`, `seq` and `appendedAt` of one message, that says whether it matches. Absent or empty: every message does. At most 1024 bytes of UTF-8. */
            condition?: string;
            /**
             * Format: int64
             * @description Seq up to which messages are passed over. Absent: all that the feed holds; those to come count.
             */
            cursor?: number;
            /** @description Whether it looks at what comes. True when absent. */
            enabled?: boolean;
            /** @description The feed whose messages it looks at. */
            feedId: string;
            /** @description The identity that its turns act for. At most 512 bytes of UTF-8 without control characters, once surrounding whitespace is trimmed. */
            identity?: string;
            /** @description Whether messages of its own agent count. False when absent. */
            includeSelf?: boolean;
            /** @description Instructions for the agent, said before the messages. At most 4096 bytes of UTF-8. */
            intent?: string;
            /** @description The subscription's name, for people. */
            name?: string;
            /** @description A model that is asked first whether the messages are worth a turn. */
            screen?: components["schemas"]["ScreenInput"];
            /** @description Which thread they are handed to. `spawn` when absent. */
            target?: components["schemas"]["SpawnTargetInput"] | components["schemas"]["ThreadTargetInput"] | components["schemas"]["ReuseTargetInput"];
        };
        SubscriptionPage: {
            /** @description Present while more rows remain: passed back as `cursor`, it gives the next page. */
            nextCursor?: string;
            /** @description Subscriptions of this page, newest first. */
            subscriptions: components["schemas"]["Subscription"][];
        };
        SubscriptionPatch: {
            /** @description When messages are handed over. `immediate` when absent. */
            cadence?: components["schemas"]["ImmediateCadenceInput"] | components["schemas"]["WindowCadenceInput"] | components["schemas"]["ScheduleCadenceInput"] | null;
            /** @description CEL over `text`, `tags`, `data`, `principal`, `seq` and `appendedAt` of one message, that says whether it matches. Absent or empty: every message does. */
            condition?: string | null;
            /**
             * Format: int64
             * @description Seq up to which everything counts as dealt with: messages after it are handed over again.
             */
            cursor?: number;
            /** @description Whether it looks at what comes. True when absent. */
            enabled?: boolean | null;
            /** @description The identity that its turns act for. */
            identity?: string | null;
            /** @description Whether messages of its own agent count. False when absent. */
            includeSelf?: boolean | null;
            /** @description Instructions for the agent, said before the messages. */
            intent?: string | null;
            /** @description The subscription's name, for people. */
            name?: string | null;
            /** @description A model that is asked first whether the messages are worth a turn. */
            screen?: {
                /** @description Which messages are worth a turn, in words for the model. */
                instructions?: string | null;
                /** @description Model that is asked, on the agent's budget. */
                model?: components["schemas"]["ModelSelector"];
            } | null;
            /** @description Which thread they are handed to. `spawn` when absent. */
            target?: components["schemas"]["SpawnTargetInput"] | components["schemas"]["ThreadTargetInput"] | components["schemas"]["ReuseTargetInput"] | null;
        };
        TextBlock: {
            /** @description The words, with at least one character that is no white space. */
            text: string;
            /**
             * @description Tells the kinds of blocks apart.
             * @enum {string}
             */
            type: "text";
        };
        Thread: {
            /** @description Agent that works in the thread. */
            agentId: string;
            /**
             * Format: date-time
             * @description Since when the thread takes no input. Absent while it does. [ext]
             */
            archivedAt?: string;
            /** @description The call that asked for the thread. Only where another agent did. [ext] */
            askedBy?: {
                /** @description Thread of the agent that asks. */
                threadId: string;
                /** @description The call of `agents.ask` there. */
                toolCallId: string;
            };
            /**
             * Format: date-time
             * @description When the thread was made.
             */
            createdAt: string;
            /** @description Who made the thread. */
            createdBy: components["schemas"]["Principal"];
            /** @description Id of the thread. */
            id: string;
            /** @description Identity that the thread works for. While that is disabled the thread gets no new work. */
            identity?: string;
            /**
             * Format: double
             * @description USD that the thread may cost in all. Absent: no limit.
             */
            maxCost?: number;
            /** @description Pairs for your own use. */
            metadata?: {
                [key: string]: string;
            };
            /** @description Model that was asked for when the thread was made. Absent: its profile's. */
            model?: string;
            /** @description Profile that the thread is pinned to, whatever its agent follows. Absent: it follows its agent. */
            profileId?: string;
            /**
             * Format: int64
             * @description Version of the profile that the thread is pinned to. Absent: it follows its agent.
             */
            profileVersion?: number;
            /** @description The hook that the thread judges for, and the thread that is judged. Only where it judges. [ext] */
            reviews?: {
                /** @description Id of the delivery that asks the hook, which its decision has as well. */
                deliveryId: string;
                /** @description The hook that asks. */
                hookId: string;
                /** @description Thread that is judged. */
                threadId: string;
            };
            /** @description The thread's title, for people. */
            title?: string;
            /**
             * Format: date-time
             * @description When title, metadata or maxCost last changed.
             */
            updatedAt: string;
            /** @description Who last changed title, metadata or maxCost. */
            updatedBy: components["schemas"]["Principal"];
            /** @description Workspace that the thread belongs to. */
            workspaceId: string;
        };
        ThreadCreated: {
            /** @description Spending of the thread's agent, in all its threads. */
            budgetSpend: components["schemas"]["BudgetSpend"];
            /** @description Ids of all open waits, in the order of `pendingWaits`. */
            inFlightWaitIds: string[];
            /** @description Answer to the first message, if one was given. */
            input?: components["schemas"]["SubmittedMessage"];
            /**
             * Format: int64
             * @description Seq of the newest event of the log; 0 before the first.
             */
            lastSeq: number;
            /** @description The newest turn, where the model has cut its newest answer. Absent where the answer is whole. [ext] */
            lastTurn?: components["schemas"]["LastTurn"];
            /** @description Model selected by the latest admitted turn, including queued work. */
            model?: string;
            /** @description Open waits that the turn is parked on. */
            pendingWaits: components["schemas"]["PendingWait"][];
            /**
             * Format: date-time
             * @description Since when the thread has been set aside with its turn undone, because it broke whatever was tried. The next message or cancel wakes it. [ext]
             */
            quarantinedAt?: string;
            /** @description Inputs that wait, in the order in which they would run. */
            queued: components["schemas"]["QueuedMessage"][];
            /**
             * @description Status of the thread: whether a turn runs or is parked, or how the last one ended.
             * @enum {string}
             */
            status: "running" | "awaiting" | "idle" | "failed" | "cancelled";
            /** @description The thread itself. */
            thread: components["schemas"]["Thread"];
            /**
             * Format: date-time
             * @description When the thread last did anything.
             */
            updatedAt: string;
            /** @description Total billable model usage, including context compaction. */
            usage: components["schemas"]["ModelUsage"];
            /**
             * @description [ext] The turn, or a call of it, stands in line, since as many run at once as one workspace may have on a node. It goes on by itself.
             * @enum {string}
             */
            waitingFor?: "turn_slot" | "call_slot";
        };
        ThreadDetail: {
            /** @description Spending of the thread's agent, in all its threads. */
            budgetSpend: components["schemas"]["BudgetSpend"];
            /** @description Ids of all open waits, in the order of `pendingWaits`. */
            inFlightWaitIds: string[];
            /**
             * Format: int64
             * @description Seq of the newest event of the log; 0 before the first.
             */
            lastSeq: number;
            /** @description The newest turn, where the model has cut its newest answer. Absent where the answer is whole. [ext] */
            lastTurn?: components["schemas"]["LastTurn"];
            /** @description Model selected by the latest admitted turn, including queued work. */
            model?: string;
            /** @description Open waits that the turn is parked on. */
            pendingWaits: components["schemas"]["PendingWait"][];
            /**
             * Format: date-time
             * @description Since when the thread has been set aside with its turn undone, because it broke whatever was tried. The next message or cancel wakes it. [ext]
             */
            quarantinedAt?: string;
            /** @description Inputs that wait, in the order in which they would run. */
            queued: components["schemas"]["QueuedMessage"][];
            /**
             * @description Status of the thread: whether a turn runs or is parked, or how the last one ended.
             * @enum {string}
             */
            status: "running" | "awaiting" | "idle" | "failed" | "cancelled";
            /** @description The thread itself. */
            thread: components["schemas"]["Thread"];
            /**
             * Format: date-time
             * @description When the thread last did anything.
             */
            updatedAt: string;
            /** @description Total billable model usage, including context compaction. */
            usage: components["schemas"]["ModelUsage"];
            /**
             * @description [ext] The turn, or a call of it, stands in line, since as many run at once as one workspace may have on a node. It goes on by itself.
             * @enum {string}
             */
            waitingFor?: "turn_slot" | "call_slot";
        };
        ThreadEvent: components["schemas"]["UserMessageEvent"] | components["schemas"]["AssistantMessageEvent"] | components["schemas"]["ToolIntentEvent"] | components["schemas"]["ToolResultEvent"] | components["schemas"]["WaitCreatedEvent"] | components["schemas"]["WaitResolvedEvent"] | components["schemas"]["HookDecidedEvent"] | components["schemas"]["TurnCompletedEvent"] | components["schemas"]["TurnCancelledEvent"] | components["schemas"]["TurnFailedEvent"] | components["schemas"]["CompactingEvent"] | components["schemas"]["CompactedEvent"];
        ThreadInput: {
            /** @description Agent that works in the thread. */
            agentId: string;
            /** @description Identity that the thread works for. While that is disabled the thread gets no new work. Absent: the key's identity, if it has one. At most 512 bytes of UTF-8 without control characters, once surrounding whitespace is trimmed. */
            identity?: string;
            /**
             * Format: double
             * @description USD that the thread may cost in all. Absent: no limit.
             */
            maxCost?: number;
            /** @description First message: with it the thread starts at once. */
            message?: {
                /** @description The message. */
                content: components["schemas"]["MessageContent"];
                /** @description The outside event that the message comes from. Only a trigger may say so. */
                origin?: components["schemas"]["Origin"];
            };
            /** @description Pairs for your own use. */
            metadata?: {
                [key: string]: string;
            };
            /** @description Model for the thread's turns. Absent: the profile's. */
            model?: components["schemas"]["ModelSelector"];
            /** @description Version of the agent's profile that the thread stays with. Absent: it follows its agent. Needs the scope `write`. */
            profileVersion?: number;
            /** @description The thread's title, for people. */
            title?: string;
        };
        ThreadPage: {
            /** @description Present while more rows remain: passed back as `cursor`, it gives the next page. */
            nextCursor?: string;
            /** @description Threads of this page, newest change first. */
            threads: components["schemas"]["ThreadSummary"][];
        };
        ThreadPatch: {
            /** @description USD that the thread may cost in all. Absent: no limit. */
            maxCost?: number | null;
            /** @description Pairs for your own use. Merged pair by pair: a value of null removes its pair. */
            metadata?: {
                [key: string]: string | null;
            } | null;
            /** @description The thread's title, for people. */
            title?: string | null;
        };
        ThreadSummary: {
            /**
             * Format: int64
             * @description Seq of the newest event of the log; 0 before the first.
             */
            lastSeq: number;
            /** @description Model selected by the latest admitted turn, including queued work. */
            model?: string;
            /** @description Open waits that the turn is parked on. */
            pendingWaits: components["schemas"]["PendingWait"][];
            /**
             * @description Status of the thread: whether a turn runs or is parked, or how the last one ended.
             * @enum {string}
             */
            status: "running" | "awaiting" | "idle" | "failed" | "cancelled";
            /** @description The thread itself. */
            thread: components["schemas"]["Thread"];
            /**
             * Format: date-time
             * @description When the thread last did anything.
             */
            updatedAt: string;
            /** @description Tokens that its turns have used, and what they cost. [ext] */
            usage: components["schemas"]["ModelUsage"];
        };
        ThreadTarget: {
            /**
             * @description Tells the kinds apart.
             * @enum {string}
             */
            mode: "thread";
            /** @description The thread that gets them. */
            threadId: string;
        };
        ThreadTargetInput: {
            /**
             * @description Tells the kinds apart.
             * @enum {string}
             */
            mode: "thread";
            /** @description The thread that gets them. */
            threadId: string;
        };
        ThreadTurn: {
            /**
             * Format: date-time
             * @description When it ended. Absent while it goes on.
             */
            endedAt?: string;
            /** @description Why it failed. */
            failureCode?: string;
            /**
             * Format: int64
             * @description Seq of its first event: the message that began it.
             */
            firstSeq: number;
            /**
             * Format: int64
             * @description Seq of its last event, so far.
             */
            lastSeq: number;
            /**
             * @description How it ended. Absent while it goes on.
             * @enum {string}
             */
            outcome?: "completed" | "failed" | "cancelled";
            /** @description Who began it. */
            principal: components["schemas"]["Principal"];
            /**
             * Format: int64
             * @description Responses of models.
             */
            responses: number;
            /**
             * Format: date-time
             * @description When it began.
             */
            startedAt: string;
            /**
             * @description How the message that began it was submitted.
             * @enum {string}
             */
            submitMode: "queue" | "steer" | "interrupt";
            /**
             * Format: int64
             * @description Calls of tools.
             */
            toolCalls: number;
            /** @description Id of the turn. */
            turnId: string;
            /** @description Tokens that it has used so far, and their cost. */
            usage: components["schemas"]["ModelUsage"];
            /**
             * Format: int64
             * @description Waits for people, clients and hooks.
             */
            waits: number;
        };
        Timing: {
            /**
             * Format: int64
             * @description How long it took, in milliseconds.
             */
            durationMs: number;
            /**
             * Format: int64
             * @description After how many milliseconds the first text came. Absent when none did.
             */
            firstTextMs?: number;
        };
        ToolAnnotations: {
            /** @description Whether what it changes may be lost for good. */
            destructiveHint?: boolean;
            /** @description Whether calling it again with the same input changes nothing more. */
            idempotentHint?: boolean;
            /** @description Whether it deals with things outside its own server. */
            openWorldHint?: boolean;
            /** @description Whether the tool changes nothing. */
            readOnlyHint?: boolean;
            /** @description Name of the tool for people. At most 256 bytes of UTF-8. */
            title?: string;
        };
        ToolAnnotationsInput: {
            /** @description Whether what it changes may be lost for good. */
            destructiveHint?: boolean;
            /** @description Whether calling it again with the same input changes nothing more. */
            idempotentHint?: boolean;
            /** @description Whether it deals with things outside its own server. */
            openWorldHint?: boolean;
            /** @description Whether the tool changes nothing. */
            readOnlyHint?: boolean;
            /** @description Name of the tool for people. At most 256 bytes of UTF-8. */
            title?: string;
        };
        ToolCallPage: {
            /** @description Calls of this page, oldest first. */
            calls: components["schemas"]["PendingToolCall"][];
            /** @description Present while more rows remain: passed back as `cursor`, it gives the next page. */
            nextCursor?: string;
        };
        ToolCallResult: {
            /** @description Why the call failed: instead of `output`. */
            error?: {
                /** @description The problem as a code, for machines. */
                code: string;
                /** @description The problem in words, for the model. At most 4096 bytes of UTF-8. */
                message: string;
            };
            /** @description Output of the tool: instead of `error`. */
            output?: unknown;
        };
        ToolContent: {
            /** @description Hints of the tool's maker about its effects. */
            annotations?: components["schemas"]["ToolAnnotations"];
            /** @description The tool's purpose, in words for the model. */
            description?: string;
            /** @description How the MCP server wants the tool to be called. Absent: by an ordinary call. */
            execution?: components["schemas"]["ToolExecution"];
            /** @description JSON Schema of the tool's input. */
            inputSchema: unknown;
            /** @description Name of the tool within its namespace. */
            name: string;
            /** @description JSON Schema of the tool's output. Absent: any output is taken. */
            outputSchema?: unknown;
            /**
             * Format: int64
             * @description How long a call may wait for its result, in milliseconds.
             */
            timeoutMs?: number;
        };
        ToolExecution: {
            /**
             * @description The tool can only be run as a task of the protocol: Troupe runs it so, and cancels the task where its turn is cancelled.
             * @enum {string}
             */
            taskSupport: "required";
        };
        ToolIntentEvent: {
            /** @description Id of the event. */
            eventId: string;
            /** @description Model that produced it, as chosen by the runtime. */
            modelId: string;
            /**
             * Format: date-time
             * @description When it was recorded.
             */
            occurredAt: string;
            /** @description Id that the model's provider gave the call. */
            providerToolCallId: string;
            /**
             * Format: int64
             * @description Position in the thread's log: from 1, without gaps.
             */
            seq: number;
            /** @description Thread whose log it stands in. */
            threadId: string;
            /** @description Id of the call: the same from its `tool_intent` to its `tool_result`. */
            toolCallId: string;
            /** @description Input of the call, as the model gave it. */
            toolInput?: unknown;
            /** @description The tool that is called, as `namespace.tool`. */
            toolName: string;
            /** @description Turn that it belongs to. */
            turnId: string;
            /**
             * @description Type of the event: it tells the kinds of events apart. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "tool_intent";
        };
        ToolList: {
            /**
             * Format: int64
             * @description Number of the catalogue that these are.
             */
            catalogVersion: number;
            /** @description Tools that it offers. */
            tools: components["schemas"]["OfferedTool"][];
        };
        ToolName: string;
        ToolResultEvent: {
            /** @description Id of the event. */
            eventId: string;
            /** @description Why it failed, for machines. Absent when it did not. */
            failureCode?: string;
            /** @description Why it failed, for people. */
            failureText?: string;
            /**
             * Format: date-time
             * @description When it was recorded.
             */
            occurredAt: string;
            /** @description Tools that this result made callable for the rest of the thread. */
            reveal?: components["schemas"]["ToolReveal"];
            /**
             * Format: int64
             * @description Position in the thread's log: from 1, without gaps.
             */
            seq: number;
            /** @description Thread whose log it stands in. */
            threadId: string;
            /** @description How long it took. */
            timing?: components["schemas"]["Timing"];
            /** @description Id of the call: the same from its `tool_intent` to its `tool_result`. */
            toolCallId: string;
            /** @description Content blocks of the Model Context Protocol that came beside `toolOutput` and say more than it: text, images, sounds, resources, links, with their annotations. Together with `toolOutput` and `toolMeta` at most 256 KiB of JSON; the bytes of a block that finds no room are left out of it, which `truncated` and `bytes` say. [ext] */
            toolContent?: Record<string, never>[];
            /** @description Remarks of the tool's server about its result (`_meta`). No model reads them. [ext] */
            toolMeta?: Record<string, never>;
            /** @description What the tool returned. A result that is too long is `{"truncated":true,"text":…}`. */
            toolOutput?: unknown;
            /** @description Turn that it belongs to. */
            turnId: string;
            /**
             * @description Type of the event: it tells the kinds of events apart. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "tool_result";
            /** @description Tokens and cost: of a turn's end, the whole turn; of a wait, the turn so far; of a result, model calls inside the tool; of `compacted`, its own. */
            usage?: components["schemas"]["ModelUsage"];
        };
        ToolReveal: {
            /** @description Families of built-in tools that became callable for the rest of the thread. */
            families?: ("agents" | "connections" | "thread" | "memory" | "artifacts" | "sites" | "web" | "schedules" | "feeds" | "subscriptions" | "sandbox")[];
            /** @description Tools of toolsets that became callable for the rest of the thread. */
            tools?: components["schemas"]["RevealedTool"][];
        };
        /** @description `namespace.tool`, `namespace.*` or `*`: `*` stands for any characters, all others for themselves. At most 176 bytes of UTF-8. */
        ToolSelector: string;
        Toolset: {
            /**
             * Format: int64
             * @description Number of the catalogue: another one whenever the tools change, 0 until there is one.
             */
            catalogVersion: number;
            /** @description Connection with the credential that the MCP server wants. Absent: none is sent. */
            connectionId?: string;
            /**
             * Format: date-time
             * @description When the toolset was made.
             */
            createdAt: string;
            /** @description The tools' purpose, in words for people. */
            description?: string;
            /** @description Names of tools that are not offered. */
            exclude?: string[];
            /**
             * @description When a model is told of the tools: always, or once a search has found them. `always` when absent.
             * @enum {string}
             */
            exposure: "always" | "search";
            /** @description Id of the toolset, which profiles name. */
            id: string;
            /** @description Names of the tools that are offered. Absent: all of them. */
            include?: string[];
            /**
             * @description `mcp`: a server that speaks MCP. `client`: tools that the workspace's own clients execute.
             * @enum {string}
             */
            kind: "mcp" | "client";
            /**
             * Format: date-time
             * @description When the server was last asked.
             */
            lastCheckedAt?: string;
            /**
             * @description `call`: every call brings a lease, with which the MCP server may ask this API on the agent's behalf while the turn goes on. `none`, the default: no call does. For kind `mcp` only.
             * @enum {string}
             */
            lease?: "none" | "call";
            /** @description First half of its tools' names: a tool is called as `namespace.tool`. No other toolset of the workspace has it. */
            namespace: string;
            /**
             * @description How the server last answered; `pending` until it was asked. Of clients' tools always `ready`.
             * @enum {string}
             */
            status: "ready" | "unreachable" | "unauthorized" | "pending";
            /** @description The problem, in words for people. */
            statusReason?: string;
            /**
             * Format: int64
             * @description How long a call of its tools may take without a word, in milliseconds: 60000 when absent. Progress that the server reports begins the time anew, up to 10 times it in all. A turn's own time goes on meanwhile.
             */
            timeoutMs?: number;
            /**
             * Format: int64
             * @description Number of tools that it offers, after `include` and `exclude`.
             */
            toolCount: number;
            /** @description Tools of kind `client`, as they were written. */
            tools?: components["schemas"]["ToolContent"][];
            /** @description Milliseconds by the name that the server gave the tool, in the place of `timeoutMs`. */
            toolTimeouts?: {
                [key: string]: number;
            };
            /**
             * @description How the MCP server is spoken to. For kind `mcp` only; `streamable_http` when absent.
             * @enum {string}
             */
            transport?: "streamable_http";
            /** @description Whether what the MCP server says of its own tools counts: `readOnlyHint` for the role read_only, that and `idempotentHint` for repeating a call after a crash. False when absent. */
            trusted?: boolean;
            /**
             * Format: date-time
             * @description When a client last changed it.
             */
            updatedAt: string;
            /** @description Address of the MCP server. For kind `mcp` only. */
            url?: string;
        };
        ToolsetAnswer: {
            /** @description The toolset. */
            toolset: components["schemas"]["Toolset"];
        };
        ToolsetInput: components["schemas"]["McpToolsetInput"] | components["schemas"]["ClientToolsetInput"];
        ToolsetPage: {
            /** @description Present while more rows remain: passed back as `cursor`, it gives the next page. */
            nextCursor?: string;
            /** @description Toolsets of this page, newest first. */
            toolsets: components["schemas"]["ToolsetSummary"][];
        };
        /** @description `url`, `transport`, `connectionId`, `trusted`, `lease`, `timeoutMs`, `toolTimeouts` are fields of a toolset of kind `mcp`, `tools` of one of kind `client`. */
        ToolsetPatch: {
            /** @description Connection with the credential that the MCP server wants. Absent: none is sent. */
            connectionId?: string | null;
            /** @description The tools' purpose, in words for people. */
            description?: string | null;
            /** @description Names of tools that are not offered. */
            exclude?: components["schemas"]["ToolName"][] | null;
            /** @description When a model is told of the tools: always, or once a search has found them. `always` when absent. */
            exposure?: ("always" | "search") | null;
            /** @description Names of the tools that are offered. Absent: all of them. */
            include?: components["schemas"]["ToolName"][] | null;
            /** @description `call`: every call brings a lease, with which the MCP server may ask this API on the agent's behalf while the turn goes on. `none`, the default: no call does. For kind `mcp` only. */
            lease?: ("none" | "call") | null;
            /** @description First half of its tools' names: a tool is called as `namespace.tool`. No other toolset of the workspace has it. */
            namespace?: string;
            /** @description How long a call of its tools may take without a word, in milliseconds: 60000 when absent. Progress that the server reports begins the time anew, up to 10 times it in all. A turn's own time goes on meanwhile. */
            timeoutMs?: number | null;
            /** @description Tools that the workspace's clients execute. For kind `client` only. Each name stands once. */
            tools?: components["schemas"]["ClientTool"][];
            /** @description Milliseconds by the name that the server gave the tool, in the place of `timeoutMs`. Absent names stay, null clears one. */
            toolTimeouts?: {
                [key: string]: number | null;
            } | null;
            /** @description How the MCP server is spoken to. For kind `mcp` only; `streamable_http` when absent. */
            transport?: "streamable_http" | null;
            /** @description Whether what the MCP server says of its own tools counts: `readOnlyHint` for the role read_only, that and `idempotentHint` for repeating a call after a crash. False when absent. */
            trusted?: boolean | null;
            /**
             * Format: uri
             * @description Address of the MCP server. For kind `mcp` only. At most 2048 bytes, as a browser takes it, without credentials, query and fragment.
             */
            url?: string;
        };
        ToolsetSummary: {
            /**
             * Format: int64
             * @description Number of the catalogue: another one whenever the tools change, 0 until there is one.
             */
            catalogVersion: number;
            /** @description Connection with the credential that the MCP server wants. Absent: none is sent. */
            connectionId?: string;
            /**
             * Format: date-time
             * @description When the toolset was made.
             */
            createdAt: string;
            /** @description The tools' purpose, in words for people. */
            description?: string;
            /** @description Names of tools that are not offered. */
            exclude?: string[];
            /**
             * @description When a model is told of the tools: always, or once a search has found them. `always` when absent.
             * @enum {string}
             */
            exposure: "always" | "search";
            /** @description Id of the toolset, which profiles name. */
            id: string;
            /** @description Names of the tools that are offered. Absent: all of them. */
            include?: string[];
            /**
             * @description `mcp`: a server that speaks MCP. `client`: tools that the workspace's own clients execute.
             * @enum {string}
             */
            kind: "mcp" | "client";
            /**
             * Format: date-time
             * @description When the server was last asked.
             */
            lastCheckedAt?: string;
            /**
             * @description `call`: every call brings a lease, with which the MCP server may ask this API on the agent's behalf while the turn goes on. `none`, the default: no call does. For kind `mcp` only.
             * @enum {string}
             */
            lease?: "none" | "call";
            /** @description First half of its tools' names: a tool is called as `namespace.tool`. No other toolset of the workspace has it. */
            namespace: string;
            /**
             * @description How the server last answered; `pending` until it was asked. Of clients' tools always `ready`.
             * @enum {string}
             */
            status: "ready" | "unreachable" | "unauthorized" | "pending";
            /** @description The problem, in words for people. */
            statusReason?: string;
            /**
             * Format: int64
             * @description How long a call of its tools may take without a word, in milliseconds: 60000 when absent. Progress that the server reports begins the time anew, up to 10 times it in all. A turn's own time goes on meanwhile.
             */
            timeoutMs?: number;
            /**
             * Format: int64
             * @description Number of tools that it offers, after `include` and `exclude`.
             */
            toolCount: number;
            /** @description Milliseconds by the name that the server gave the tool, in the place of `timeoutMs`. */
            toolTimeouts?: {
                [key: string]: number;
            };
            /**
             * @description How the MCP server is spoken to. For kind `mcp` only; `streamable_http` when absent.
             * @enum {string}
             */
            transport?: "streamable_http";
            /** @description Whether what the MCP server says of its own tools counts: `readOnlyHint` for the role read_only, that and `idempotentHint` for repeating a call after a crash. False when absent. */
            trusted?: boolean;
            /**
             * Format: date-time
             * @description When a client last changed it.
             */
            updatedAt: string;
            /** @description Address of the MCP server. For kind `mcp` only. */
            url?: string;
        };
        Trigger: {
            /** @description Five fields (minute, hour, day, month, weekday), or @hourly, @daily and so on. */
            expression: string;
            /** @description Name of the time zone in the IANA database, such as Europe/Berlin. */
            timezone: string;
            /**
             * @description By the clock on the wall.
             * @enum {string}
             */
            type: "cron";
        } | {
            /** @description Seconds from one instant to the next. */
            seconds: number;
            /**
             * Format: date-time
             * @description The first instant. Absent: one interval after the schedule was made, enabled or changed. In the years 0 to 9999 of UTC.
             */
            startAt?: string;
            /**
             * @description Every so many seconds.
             * @enum {string}
             */
            type: "interval";
        } | {
            /**
             * Format: date-time
             * @description The instant. In the years 0 to 9999 of UTC.
             */
            at: string;
            /**
             * @description At one instant only.
             * @enum {string}
             */
            type: "once";
        };
        TriggerInput: {
            /** @description Five fields (minute, hour, day, month, weekday), or @hourly, @daily and so on. */
            expression: string;
            /** @description Name of the time zone in the IANA database, such as Europe/Berlin. */
            timezone: string;
            /**
             * @description By the clock on the wall.
             * @enum {string}
             */
            type: "cron";
        } | {
            /** @description Seconds from one instant to the next. */
            seconds: number;
            /**
             * Format: date-time
             * @description The first instant. Absent: one interval after the schedule was made, enabled or changed. In the years 0 to 9999 of UTC.
             */
            startAt?: string;
            /**
             * @description Every so many seconds.
             * @enum {string}
             */
            type: "interval";
        } | {
            /**
             * Format: date-time
             * @description The instant. In the years 0 to 9999 of UTC.
             */
            at: string;
            /**
             * @description At one instant only.
             * @enum {string}
             */
            type: "once";
        };
        TurnCancelledEvent: {
            /** @description Id of the event. */
            eventId: string;
            /**
             * Format: date-time
             * @description When it was recorded.
             */
            occurredAt: string;
            /** @description Who acted: whose message it is, who began a completed turn, who cancelled one. */
            principal: components["schemas"]["Principal"];
            /**
             * Format: int64
             * @description Position in the thread's log: from 1, without gaps.
             */
            seq: number;
            /** @description Thread whose log it stands in. */
            threadId: string;
            /** @description Turn that it belongs to. */
            turnId: string;
            /**
             * @description Type of the event: it tells the kinds of events apart. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "turn_cancelled";
            /** @description Tokens and cost: of a turn's end, the whole turn; of a wait, the turn so far; of a result, model calls inside the tool; of `compacted`, its own. */
            usage: components["schemas"]["ModelUsage"];
        };
        TurnCompletedEvent: {
            /** @description Id of the event. */
            eventId: string;
            /**
             * Format: date-time
             * @description When it was recorded.
             */
            occurredAt: string;
            /** @description Who acted: whose message it is, who began a completed turn, who cancelled one. */
            principal: components["schemas"]["Principal"];
            /**
             * Format: int64
             * @description Position in the thread's log: from 1, without gaps.
             */
            seq: number;
            /** @description Thread whose log it stands in. */
            threadId: string;
            /** @description Turn that it belongs to. */
            turnId: string;
            /**
             * @description Type of the event: it tells the kinds of events apart. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "turn_completed";
            /** @description Tokens and cost: of a turn's end, the whole turn; of a wait, the turn so far; of a result, model calls inside the tool; of `compacted`, its own. */
            usage: components["schemas"]["ModelUsage"];
        };
        TurnFailedEvent: {
            /** @description Id of the event. */
            eventId: string;
            /** @description Why it failed, for machines. Absent when it did not. */
            failureCode: string;
            /** @description Exactly with failureCode `model_image_format_unsupported`: which formats the model target refused. */
            failureDetails?: components["schemas"]["ModelImageFormatUnsupportedDetails"];
            /** @description Why it failed, for people. */
            failureText: string;
            /**
             * Format: date-time
             * @description When it was recorded.
             */
            occurredAt: string;
            /**
             * Format: int64
             * @description Position in the thread's log: from 1, without gaps.
             */
            seq: number;
            /** @description Thread whose log it stands in. */
            threadId: string;
            /** @description Turn that it belongs to. */
            turnId: string;
            /**
             * @description Type of the event: it tells the kinds of events apart. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "turn_failed";
            /** @description Tokens and cost: of a turn's end, the whole turn; of a wait, the turn so far; of a result, model calls inside the tool; of `compacted`, its own. */
            usage: components["schemas"]["ModelUsage"];
        };
        TurnPage: {
            /** @description Present while more rows remain: passed back as `cursor`, it gives the next page. */
            nextCursor?: string;
            /** @description Turns of this page, in the order asked for. */
            turns: components["schemas"]["ThreadTurn"][];
        };
        UsagePage: {
            /** @description Budget of the agent that `agentId` names, and what of it is used. Absent where it has none. */
            budget?: components["schemas"]["BudgetUse"];
            /** @description Present while more rows remain: passed back as `cursor`, it gives the next page. */
            nextCursor?: string;
            /** @description Sums of this page: newest day first, then by agent and model. */
            usage: components["schemas"]["UsageSum"][];
        };
        UsageSum: {
            /** @description The agent that pays. Present where the sums are by agent. */
            agentId?: string;
            /**
             * Format: int64
             * @description Input tokens that providers read from their caches.
             */
            cacheReadTokens: number;
            /**
             * Format: int64
             * @description Input tokens that providers wrote to their caches.
             */
            cacheWriteTokens: number;
            /**
             * Format: int64
             * @description Responses of models, and failed attempts whose usage the provider reported.
             */
            calls: number;
            /**
             * Format: date
             * @description The day in UTC. Present where the sums are by day.
             */
            day?: string;
            /**
             * Format: double
             * @description Cost of all of them, in USD. Absent where the price of a part is not known.
             */
            estimatedCost?: number;
            /**
             * Format: int64
             * @description Tokens that went into models.
             */
            inputTokens: number;
            /** @description Id of the model. Present where the sums are by model. */
            model?: string;
            /**
             * Format: int64
             * @description Tokens that came out of models.
             */
            outputTokens: number;
            /**
             * Format: int64
             * @description Output tokens that models spent on reasoning.
             */
            reasoningTokens: number;
        };
        UserMessageEvent: {
            /** @description Content of a user's or an assistant's message. At most 20 image blocks, with different ids. */
            content: (components["schemas"]["TextBlock"] | components["schemas"]["ImageBlock"])[];
            /** @description Id of the event. */
            eventId: string;
            /** @description The input that this message was while it waited in the queue. [ext] */
            inputId: string;
            /**
             * Format: date-time
             * @description When it was recorded.
             */
            occurredAt: string;
            /** @description Who acted: whose message it is, who began a completed turn, who cancelled one. */
            principal: components["schemas"]["Principal"];
            /**
             * Format: int64
             * @description Position in the thread's log: from 1, without gaps.
             */
            seq: number;
            /**
             * @description How the message was submitted.
             * @enum {string}
             */
            submitMode: "queue" | "steer" | "interrupt";
            /** @description Who first sent a message that somebody else has edited since. */
            submittedBy?: components["schemas"]["Principal"];
            /** @description Thread whose log it stands in. */
            threadId: string;
            /** @description Turn that it belongs to. */
            turnId: string;
            /**
             * @description Type of the event: it tells the kinds of events apart. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "user_message";
        };
        Wait: {
            /** @description Content that a hook asks about: the message at `before_turn_start`, the text at `after_model_response`, which is empty for a response of calls only. */
            content?: (components["schemas"]["TextBlock"] | components["schemas"]["ImageBlock"])[];
            /**
             * Format: date-time
             * @description Until when it can be answered.
             */
            expiresAt?: string;
            /** @description Failure of the call that a hook asks about at `after_tool_result`. */
            failureCode?: string;
            /** @description The hook that asks. Absent for others. */
            hookId?: string;
            /** @description Id of the wait. */
            id: string;
            /**
             * @description Where in the turn the question came up.
             * @enum {string}
             */
            point?: "before_turn_start" | "before_tool_call" | "after_tool_result" | "after_model_response";
            /**
             * @description Who was asked first: an endpoint, another agent, or a client.
             * @enum {string}
             */
            processor?: "url" | "agent" | "client";
            /** @description Why a person is asked, in words for people. */
            reason?: string;
            /**
             * Format: date-time
             * @description When it ended. Absent while it is open.
             */
            resolvedAt?: string;
            /**
             * @description Whether it still waits, and what became of it.
             * @enum {string}
             */
            state: "open" | "resolved" | "expired" | "cancelled";
            /**
             * @description Who is expected to answer.
             * @enum {string}
             */
            target: "person" | "client" | "url" | "agent";
            /** @description The call that it is about. */
            toolCallId?: string;
            /** @description Content blocks of the Model Context Protocol that came beside `toolOutput` and say more than it: text, images, sounds, resources, links, with their annotations. Together with `toolOutput` and `toolMeta` at most 256 KiB of JSON; the bytes of a block that finds no room are left out of it, which `truncated` and `bytes` say. [ext] */
            toolContent?: Record<string, never>[];
            /** @description Input of the call, as the model gave it. */
            toolInput?: unknown;
            /** @description Remarks of the tool's server about its result (`_meta`). No model reads them. [ext] */
            toolMeta?: Record<string, never>;
            /** @description The tool that is called, as `namespace.tool`. */
            toolName?: string;
            /** @description Output of the tool that a hook asks about at `after_tool_result`. */
            toolOutput?: unknown;
            /** @description Toolset of the tool. Absent for built-in tools. */
            toolsetId?: string;
            /** @description Turn that is parked on it. */
            turnId: string;
            /**
             * @description Kind of the answer: the result of a client's tool, or a decision that a hook or a role asks for.
             * @enum {string}
             */
            type: "client_tool" | "hook_ask" | "role_approval";
            /** @description How it ended. Absent while it is open. */
            waitResult?: {
                /** @description Who answered. Absent when nobody did. */
                by?: components["schemas"]["Principal"];
                /**
                 * @description `expired`: nobody answered in time. `cancelled`: the turn was stopped. The others are answers.
                 * @enum {string}
                 */
                outcome: "allow" | "deny" | "result" | "error" | "expired" | "cancelled";
                /** @description Output of the tool. */
                output?: unknown;
                /** @description Why, in words for people. */
                reason?: string;
            };
        };
        WaitAnswer: {
            /**
             * Format: int64
             * @description Seq of its `wait_resolved` event, once it is over.
             */
            seq?: number;
            /** @description The wait. */
            wait: components["schemas"]["Wait"];
        };
        WaitCreatedEvent: {
            /** @description Id of the event. */
            eventId: string;
            /**
             * Format: date-time
             * @description When it was recorded.
             */
            occurredAt: string;
            /**
             * Format: int64
             * @description Position in the thread's log: from 1, without gaps.
             */
            seq: number;
            /** @description Thread whose log it stands in. */
            threadId: string;
            /** @description Id of the call: the same from its `tool_intent` to its `tool_result`. */
            toolCallId?: string;
            /** @description The tool that is called, as `namespace.tool`. */
            toolName?: string;
            /** @description Toolset of the tool. Absent for built-in tools. */
            toolsetId?: string;
            /** @description Turn that it belongs to. */
            turnId: string;
            /**
             * @description Type of the event: it tells the kinds of events apart. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "wait_created";
            /** @description Tokens and cost: of a turn's end, the whole turn; of a wait, the turn so far; of a result, model calls inside the tool; of `compacted`, its own. */
            usage: components["schemas"]["ModelUsage"];
            /** @description The wait that began or ended, or that a hook's ask led to. */
            waitId: string;
        };
        WaitDecision: {
            /**
             * @description Whether what waits may go on.
             * @enum {string}
             */
            decision: "allow" | "deny";
            /** @description Why, in words for people. The log keeps it. At most 1024 bytes of UTF-8. */
            reason?: string;
            /** @description Replacement of the content that waits. Only with an `allow`. */
            rewrite?: components["schemas"]["WaitRewrite"];
            /**
             * @description How far an `allow` goes: for what waits, or for every call of this tool in this thread that the same hook or grant asks about. `once` when absent.
             * @enum {string}
             */
            scope?: "once" | "thread";
            /**
             * @description Which kind of wait is answered. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "decision";
        };
        WaitResolution: components["schemas"]["WaitDecision"] | components["schemas"]["WaitToolResult"];
        WaitResolvedEvent: {
            /** @description Id of the event. */
            eventId: string;
            /**
             * Format: date-time
             * @description When it was recorded.
             */
            occurredAt: string;
            /**
             * Format: int64
             * @description Position in the thread's log: from 1, without gaps.
             */
            seq: number;
            /** @description Thread whose log it stands in. */
            threadId: string;
            /** @description Id of the call: the same from its `tool_intent` to its `tool_result`. */
            toolCallId?: string;
            /** @description Toolset of the tool. Absent for built-in tools. */
            toolsetId?: string;
            /** @description Turn that it belongs to. */
            turnId: string;
            /**
             * @description Type of the event: it tells the kinds of events apart. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "wait_resolved";
            /** @description The wait that began or ended, or that a hook's ask led to. */
            waitId: string;
            /** @description How the wait ended: `{outcome, by?, reason?, output?}`. */
            waitResult?: unknown;
        };
        WaitRewrite: {
            /** @description Message or text from now on: at `before_turn_start` and `after_model_response`. At most 524288 bytes of encoded JSON. The point of the wait decides which blocks, and how much text, it may hold. */
            content?: (components["schemas"]["TextBlock"] | components["schemas"]["ImageBlock"])[];
            /** @description Input of the call from now on: at `before_tool_call`. */
            toolInput?: unknown;
            /** @description Output of the call from now on: at `after_tool_result`. */
            toolOutput?: unknown;
        };
        WaitToolResult: {
            /** @description Why the call failed: instead of `output`. */
            error?: {
                /** @description The problem as a code, for machines. */
                code: string;
                /** @description The problem in words, for the model. At most 4096 bytes of UTF-8. */
                message: string;
            };
            /** @description Output of the tool: instead of `error`. */
            output?: unknown;
            /**
             * @description Which kind of wait is answered. (enum property replaced by openapi-typescript)
             * @enum {string}
             */
            type: "tool_result";
        };
        Warning: {
            /** @description The warning, for a person to read. */
            message: string;
            /** @description The field that it is about, such as `models[0]`. */
            path: string;
        };
        Webhook: {
            /** @description Agent whose events it is told of. Absent: those of all agents, and those of none. */
            agentId?: string;
            /**
             * Format: date-time
             * @description When it was made.
             */
            createdAt: string;
            /** @description Who has made it. */
            createdBy: components["schemas"]["Principal"];
            /** @description The webhook's purpose, in words for people. */
            description?: string;
            /**
             * @description Why the server has disabled it: `failures` in a row for a day, or `gone`, an answer 410.
             * @enum {string}
             */
            disabledReason?: "failures" | "gone";
            /** @description Whether anything is sent. */
            enabled: boolean;
            /** @description Types of events that it is told of, each once. `webhook.test` is sent whether it stands here or not. */
            events: components["schemas"]["WebhookEventType"][];
            /** @description Id of the webhook. */
            id: string;
            /**
             * Format: date-time
             * @description When an attempt has last failed.
             */
            lastFailureAt?: string;
            /**
             * Format: date-time
             * @description When an event was last taken.
             */
            lastSuccessAt?: string;
            /**
             * @description `disabled`: nothing is sent.
             * @enum {string}
             */
            status: "active" | "disabled";
            /**
             * Format: date-time
             * @description When it was last changed.
             */
            updatedAt: string;
            /** @description Address that events are sent to, by POST. */
            url: string;
        };
        WebhookAnswer: {
            /** @description The webhook, without its secret. */
            webhook: components["schemas"]["Webhook"];
        };
        WebhookDelivery: {
            /**
             * Format: int64
             * @description How often it was sent.
             */
            attempts: number;
            /**
             * Format: date-time
             * @description When it happened.
             */
            createdAt: string;
            /** @description Id of the event, which every attempt bears as `webhook-id`. */
            eventId: string;
            /** @description Id of the delivery. */
            id: string;
            /** @description Why the last attempt has failed. */
            lastError?: string;
            /**
             * Format: int64
             * @description Status of the last answer.
             */
            lastStatus?: number;
            /**
             * Format: date-time
             * @description When a pending delivery is sent next.
             */
            nextAttemptAt?: string;
            /** @description `pending` until it was taken, or has failed for good. */
            state: components["schemas"]["WebhookDeliveryState"];
            /** @description Type of the event. */
            type: components["schemas"]["WebhookEventType"];
        };
        WebhookDeliveryAnswer: {
            /** @description The delivery. */
            delivery: components["schemas"]["WebhookDelivery"];
        };
        WebhookDeliveryPage: {
            /** @description Deliveries of this page, newest first. */
            deliveries: components["schemas"]["WebhookDelivery"][];
            /** @description Present while more rows remain: passed back as `cursor`, it gives the next page. */
            nextCursor?: string;
        };
        /** @enum {string} */
        WebhookDeliveryState: "pending" | "delivered" | "failed";
        /** @enum {string} */
        WebhookEventType: "thread.status" | "turn.completed" | "turn.failed" | "wait.created" | "operation.created" | "budget.reached" | "schedule.failed" | "schedule.disabled" | "subscription.disabled" | "connection.refresh_failed" | "webhook.test";
        WebhookInput: {
            /** @description Agent whose events it is told of. Absent: those of all agents, and those of none. */
            agentId?: string;
            /** @description The webhook's purpose, in words for people. At most 4096 bytes of UTF-8. */
            description?: string;
            /** @description Whether anything is sent. True when absent. */
            enabled?: boolean;
            /** @description Types of events that it is told of, each once. `webhook.test` is sent whether it stands here or not. */
            events: components["schemas"]["WebhookEventType"][];
            /**
             * Format: uri
             * @description Address that events are sent to, by POST. At most 2048 bytes, as a browser takes it, without credentials and fragment.
             */
            url: string;
        };
        WebhookPage: {
            /** @description Present while more rows remain: passed back as `cursor`, it gives the next page. */
            nextCursor?: string;
            /** @description Webhooks of this page, newest first. */
            webhooks: components["schemas"]["Webhook"][];
        };
        WebhookPatch: {
            /** @description Agent whose events it is told of. Absent: those of all agents, and those of none. */
            agentId?: string | null;
            /** @description The webhook's purpose, in words for people. */
            description?: string | null;
            /** @description False: nothing is sent, and what is pending ends as failed. */
            enabled?: boolean;
            /** @description Types of events that it is told of, each once. `webhook.test` is sent whether it stands here or not. */
            events?: components["schemas"]["WebhookEventType"][];
            /**
             * Format: uri
             * @description Address that events are sent to, by POST. At most 2048 bytes, as a browser takes it, without credentials and fragment.
             */
            url?: string;
        };
        WebhookSecretAnswer: {
            /** @description Signs deliveries, as Standard Webhooks has it: `whsec_…`. Shown only here. */
            secret: string;
            /** @description The webhook. */
            webhook: components["schemas"]["Webhook"];
        };
        WindowCadence: {
            /** @description Messages that are handed over together at most. With as many the window ends. 1000 when absent. */
            maxMessages?: number;
            /**
             * @description Tells the kinds apart.
             * @enum {string}
             */
            mode: "window";
            /** @description Seconds from the first message that matches to the handover. */
            windowSeconds: number;
        };
        WindowCadenceInput: {
            /** @description Messages that are handed over together at most. With as many the window ends. 1000 when absent. */
            maxMessages?: number;
            /**
             * @description Tells the kinds apart.
             * @enum {string}
             */
            mode: "window";
            /** @description Seconds from the first message that matches to the handover. */
            windowSeconds: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    "actors.chart": {
        parameters: {
            query?: {
                /** @description After the step that wrote the fact at this position; 0 is the birth. */
                pos?: number;
                /** @description After the step that wrote this event. Not together with `pos`. */
                seq?: number;
            };
            header?: never;
            path: {
                /** @description Id of a thread, a subscription, a schedule, or of an identity's actor (`idn_…`). */
                actorId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActorChart"];
                };
            };
        };
    };
    "actors.steps": {
        parameters: {
            query?: {
                /** @description Position behind which to begin: only steps that end after it. Not together with `cursor` or `order=desc`. */
                afterPos?: number;
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Rows of a page. 200 when absent. */
                limit?: number;
                /** @description By position, upwards or downwards. `asc` when absent. */
                order?: "asc" | "desc";
            };
            header?: never;
            path: {
                /** @description Id of a thread, a subscription, a schedule, or of an identity's actor (`idn_…`). */
                actorId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ActorStepPage"];
                };
            };
        };
    };
    "agents.list": {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Whether archived agents are listed as well. False when absent. */
                includeArchived?: "true" | "false";
                /** @description Rows of a page. 50 when absent. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentPage"];
                };
            };
        };
    };
    "agents.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AgentInput"];
            };
        };
        responses: {
            /** @description Created, as it is now. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentAnswer"];
                };
            };
            /** @description Parked for approval: poll the operation for its result. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
        };
    };
    "agents.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent.
                 * @example agt_0000000000000000000000dem0
                 */
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentAnswer"];
                };
            };
            /** @description Parked for approval: poll the operation for its result. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
        };
    };
    "agents.archive": {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that was read, quotes and all: the request holds only while it is still that, else it is 412. `*`, the default, is any. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the agent. */
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Parked for approval: poll the operation for its result. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
            /** @description Done; there is nothing to say. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "agents.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that was read, quotes and all: the request holds only while it is still that, else it is 412. `*`, the default, is any. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the agent. */
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["AgentPatch"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentAnswer"];
                };
            };
            /** @description Parked for approval: poll the operation for its result. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
        };
    };
    "streams.agent": {
        parameters: {
            query?: {
                /** @description With `text`, also the text of responses while models write it: frames `delta`, and `discard` where it comes to nothing. */
                deltas?: "text";
                /** @description Which frames to send: names with commas between them, such as `event,status`. There are `ready`, `event`, `delta`, `status`, `queue`, `wait`, `progress`, `operation`, `feed`, `step`, `discard`, `gap`, `bye`. `ready`, `gap` and `bye` come in any case. Absent: all, but `delta` and `discard` only with `deltas`, `progress` only in the stream of one thread, and `step` only where it is named: in the stream of one thread, and in the workspace's with `actorId`. */
                types?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the agent.
                 * @example agt_0000000000000000000000dem0
                 */
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream, until the client leaves or a frame `bye` ends it. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "ready";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "event";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "delta";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "status";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "queue";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "wait";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "progress";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "operation";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "feed";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "step";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "discard";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "gap";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "bye";
                    };
                };
            };
        };
    };
    "images.list": {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Rows of a page. 50 when absent. */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the agent.
                 * @example agt_0000000000000000000000dem0
                 */
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImagePage"];
                };
            };
        };
    };
    "images.upload": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Id of the agent.
                 * @example agt_0000000000000000000000dem0
                 */
                agentId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ImageUpload"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The image. */
                        image: components["schemas"]["Image"];
                    };
                };
            };
            /** @description Created, as it is now. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description The image. */
                        image: components["schemas"]["Image"];
                    };
                };
            };
        };
    };
    "memory.list": {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Rows of a page. 50 when absent. */
                limit?: number;
                /** @description Beginning of the keys, byte by byte. Absent: all keys. At most 512 bytes of UTF-8. */
                prefix?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the agent.
                 * @example agt_0000000000000000000000dem0
                 */
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryPage"];
                };
            };
        };
    };
    "memory.get": {
        parameters: {
            query?: {
                /** @description Key of the entry. Only a delete may leave it out: it means no entry then. At most 512 bytes of UTF-8. */
                key?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the agent.
                 * @example agt_0000000000000000000000dem0
                 */
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryEntryAnswer"];
                };
            };
        };
    };
    "memory.put": {
        parameters: {
            query?: {
                /** @description Key of the entry. Only a delete may leave it out: it means no entry then. At most 512 bytes of UTF-8. */
                key?: string;
            };
            header?: {
                /** @description An entry's ETag, quotes and all: it means `expectedVersion`. `*`, the default, is any; a list, or anything else but an ETag, is no version that an entry could have. */
                "If-Match"?: string;
            };
            path: {
                /**
                 * @description Id of the agent.
                 * @example agt_0000000000000000000000dem0
                 */
                agentId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemoryInput"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryEntryAnswer"];
                };
            };
            /** @description Created, as it is now. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryEntryAnswer"];
                };
            };
            /** @description Parked for approval: poll the operation for its result. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
        };
    };
    "memory.delete": {
        parameters: {
            query?: {
                /** @description Delete only while the entry is at this version. At most 512 bytes of UTF-8. */
                expectedVersion?: string;
                /** @description Key of the entry. Only a delete may leave it out: it means no entry then. At most 512 bytes of UTF-8. */
                key?: string;
            };
            header?: {
                /** @description An entry's ETag, quotes and all: it means `expectedVersion`. `*`, the default, is any; a list, or anything else but an ETag, is no version that an entry could have. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the agent. */
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
            /** @description Parked for approval: poll the operation for its result. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
        };
    };
    "memory.versions": {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Key of the entry. Only a delete may leave it out: it means no entry then. At most 512 bytes of UTF-8. */
                key?: string;
                /** @description Rows of a page. 100 when absent. */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the agent.
                 * @example agt_0000000000000000000000dem0
                 */
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryVersionPage"];
                };
            };
        };
    };
    "memory.version": {
        parameters: {
            query?: {
                /** @description Key of the entry. Only a delete may leave it out: it means no entry then. At most 512 bytes of UTF-8. */
                key?: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the agent.
                 * @example agt_0000000000000000000000dem0
                 */
                agentId: string;
                /** @description A version of the entry. */
                versionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryVersionAnswer"];
                };
            };
        };
    };
    "memory.redact": {
        parameters: {
            query?: {
                /** @description Key of the entry. Only a delete may leave it out: it means no entry then. At most 512 bytes of UTF-8. */
                key?: string;
            };
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Id of the agent.
                 * @example agt_0000000000000000000000dem0
                 */
                agentId: string;
                /** @description A version of the entry. */
                versionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryVersionAnswer"];
                };
            };
        };
    };
    "memory.search": {
        parameters: {
            query: {
                /** @description Entries to find. 10 when absent. */
                limit?: number;
                /** @description Words, "quoted phrases", `or`, and `-` before what is not to be there. At most 512 bytes of UTF-8. */
                q: string;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the agent.
                 * @example agt_0000000000000000000000dem0
                 */
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryHits"];
                };
            };
        };
    };
    "schedules.list": {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Rows of a page. 20 when absent. */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the agent.
                 * @example agt_0000000000000000000000dem0
                 */
                agentId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SchedulePage"];
                };
            };
        };
    };
    "schedules.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Id of the agent.
                 * @example agt_0000000000000000000000dem0
                 */
                agentId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScheduleInput"];
            };
        };
        responses: {
            /** @description Created, as it is now. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleAnswer"];
                };
            };
            /** @description Parked for approval: poll the operation for its result. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
        };
    };
    "schedules.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the agent.
                 * @example agt_0000000000000000000000dem0
                 */
                agentId: string;
                /** @description Id of the schedule. */
                scheduleId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleAnswer"];
                };
            };
        };
    };
    "schedules.delete": {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that was read, quotes and all: the request holds only while it is still that, else it is 412. `*`, the default, is any. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the agent. */
                agentId: string;
                /** @description Id of the schedule. */
                scheduleId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Parked for approval: poll the operation for its result. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
            /** @description Done; there is nothing to say. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "schedules.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that was read, quotes and all: the request holds only while it is still that, else it is 412. `*`, the default, is any. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the agent. */
                agentId: string;
                /** @description Id of the schedule. */
                scheduleId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SchedulePatch"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleAnswer"];
                };
            };
            /** @description Parked for approval: poll the operation for its result. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
        };
    };
    "schedules.run": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Id of the agent.
                 * @example agt_0000000000000000000000dem0
                 */
                agentId: string;
                /** @description Id of the schedule. */
                scheduleId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created, as it is now. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleRunAnswer"];
                };
            };
            /** @description Parked for approval: poll the operation for its result. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
        };
    };
    "schedules.runs": {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Rows of a page. 100 when absent. */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the agent.
                 * @example agt_0000000000000000000000dem0
                 */
                agentId: string;
                /** @description Id of the schedule. */
                scheduleId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleRunPage"];
                };
            };
        };
    };
    "subscriptions.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /**
                 * @description Id of the agent.
                 * @example agt_0000000000000000000000dem0
                 */
                agentId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SubscriptionInput"];
            };
        };
        responses: {
            /** @description Created, as it is now. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
            /** @description Parked for approval: poll the operation for its result. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
        };
    };
    "approvals.getPolicy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalPolicyAnswer"];
                };
            };
        };
    };
    "approvals.putPolicy": {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that was read, quotes and all: the request holds only while it is still that, else it is 412. `*`, the default, is any. */
                "If-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApprovalPolicyInput"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalPolicyAnswer"];
                };
            };
        };
    };
    "auth.context": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthContext"];
                };
            };
        };
    };
    "auth.listKeys": {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Rows of a page. 50 when absent. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyPage"];
                };
            };
        };
    };
    "auth.createKey": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApiKeyInput"];
            };
        };
        responses: {
            /** @description Created, as it is now. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyCreated"];
                };
            };
        };
    };
    "auth.getKey": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the key. */
                keyId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyFound"];
                };
            };
        };
    };
    "auth.revokeKey": {
        parameters: {
            query?: {
                /** @description Whether the keys that it has made are revoked as well, and theirs in turn. False when absent. */
                descendants?: "true" | "false";
            };
            header?: never;
            path: {
                /** @description Id of the key. */
                keyId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; there is nothing to say. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "auth.rotateKey": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the key. */
                keyId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["KeyRotation"];
            };
        };
        responses: {
            /** @description Created, as it is now. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyCreated"];
                };
            };
        };
    };
    "charts.list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChartList"];
                };
            };
        };
    };
    "charts.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Kind of the chart.
                 * @example thread
                 */
                kind: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChartAnswer"];
                };
            };
        };
    };
    "connections.list": {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Rows of a page. 50 when absent. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectionPage"];
                };
            };
        };
    };
    "connections.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ConnectionInput"];
            };
        };
        responses: {
            /** @description Created, as it is now. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectionAnswer"];
                };
            };
        };
    };
    "connections.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the connection. */
                connectionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectionAnswer"];
                };
            };
        };
    };
    "connections.delete": {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that was read, quotes and all: the request holds only while it is still that, else it is 412. `*`, the default, is any. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the connection. */
                connectionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; there is nothing to say. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "connections.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that was read, quotes and all: the request holds only while it is still that, else it is 412. `*`, the default, is any. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the connection. */
                connectionId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ConnectionPatch"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConnectionAnswer"];
                };
            };
        };
    };
    "streams.workspace": {
        parameters: {
            query?: {
                /** @description Where `types` names `step`: also the steps of this actor. Of an identity the scope is `admin`. `GET /v1/actors/{actorId}/steps` behind the last known `pos` is the record. */
                actorId?: string;
                /** @description Only threads of this agent. */
                agentId?: string;
                /** @description With `text`, also the text of responses while models write it: frames `delta`, and `discard` where it comes to nothing. */
                deltas?: "text";
                /** @description Which frames to send: names with commas between them, such as `event,status`. There are `ready`, `event`, `delta`, `status`, `queue`, `wait`, `progress`, `operation`, `feed`, `step`, `discard`, `gap`, `bye`. `ready`, `gap` and `bye` come in any case. Absent: all, but `delta` and `discard` only with `deltas`, `progress` only in the stream of one thread, and `step` only where it is named: in the stream of one thread, and in the workspace's with `actorId`. */
                types?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream, until the client leaves or a frame `bye` ends it. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "ready";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "event";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "delta";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "status";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "queue";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "wait";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "progress";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "operation";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "feed";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "step";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "discard";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "gap";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "bye";
                    };
                };
            };
        };
    };
    "feeds.list": {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Whether archived feeds are listed as well. False when absent. */
                includeArchived?: "true" | "false";
                /** @description Rows of a page. 50 when absent. */
                limit?: number;
                /** @description Beginning of their names. */
                namePrefix?: string;
                /** @description A tag that they have. At most 64 bytes of UTF-8. */
                tag?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeedPage"];
                };
            };
        };
    };
    "feeds.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FeedInput"];
            };
        };
        responses: {
            /** @description Created, as it is now. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeedAnswer"];
                };
            };
            /** @description Parked for approval: poll the operation for its result. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
        };
    };
    "feeds.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the feed. */
                feedId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeedAnswer"];
                };
            };
        };
    };
    "feeds.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that was read, quotes and all: the request holds only while it is still that, else it is 412. `*`, the default, is any. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the feed. */
                feedId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["FeedPatch"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeedAnswer"];
                };
            };
            /** @description Parked for approval: poll the operation for its result. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
        };
    };
    "feeds.archive": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
                /** @description An ETag that was read, quotes and all: the request holds only while it is still that, else it is 412. `*`, the default, is any. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the feed. */
                feedId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeedAnswer"];
                };
            };
            /** @description Parked for approval: poll the operation for its result. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
        };
    };
    "feeds.read": {
        parameters: {
            query?: {
                /** @description Seq to end at. Absent: the newest. */
                endSeq?: number;
                /** @description Rows of a page. 100 when absent. */
                limit?: number;
                /** @description Seq to begin at. Absent: the oldest that is kept. */
                startSeq?: number;
                /** @description How many of the newest messages to begin with, in the place of `startSeq` and `endSeq`. */
                tailOffset?: number;
                /** @description Seconds that the answer may wait for a message from `startSeq` on, where there is none yet. 0 when absent. */
                waitSeconds?: number;
            };
            header?: never;
            path: {
                /** @description Id of the feed. */
                feedId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeedMessagePage"];
                };
            };
        };
    };
    "feeds.append": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the feed. */
                feedId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FeedAppend"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeedAppended"];
                };
            };
            /** @description Created, as it is now. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeedAppended"];
                };
            };
            /** @description Parked for approval: poll the operation for its result. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
        };
    };
    "hooks.decisions": {
        parameters: {
            query?: {
                /** @description Only decisions in threads of this agent. */
                agentId?: string;
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Only these decisions. */
                decision?: "allow" | "deny" | "ask" | "defer";
                /** @description Only decisions from this time on, itself included. In the years 0 to 9999 of UTC. */
                from?: string;
                /** @description Only decisions of this hook. */
                hookId?: string;
                /** @description Rows of a page. 100 when absent. */
                limit?: number;
                /** @description Only decisions at this point of a turn. */
                point?: "before_turn_start" | "before_tool_call" | "after_tool_result" | "after_model_response";
                /** @description Only decisions in this thread. */
                threadId?: string;
                /** @description Only decisions before this time. In the years 0 to 9999 of UTC. */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HookDecisionPage"];
                };
            };
        };
    };
    "hooks.decide": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the delivery, as the endpoint was told. */
                deliveryId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeliveryDecision"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResolvedWait"];
                };
            };
        };
    };
    "hooks.test": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HookSample"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HookTest"];
                };
            };
        };
    };
    "hooks.resolveWait": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the wait. */
                waitId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HookWaitDecision"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResolvedWait"];
                };
            };
        };
    };
    "identities.list": {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Rows of a page. 50 when absent. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["IdentityPage"];
                };
            };
        };
    };
    "identities.disable": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IdentityChoice"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
            /** @description Parked for approval: poll the operation for its result. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
        };
    };
    "identities.enable": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["IdentityChoice"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
            /** @description Parked for approval: poll the operation for its result. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
        };
    };
    "images.get": {
        parameters: {
            query?: never;
            header?: {
                /** @description ETags that the client has, quotes and all, or `*`: where one matches, the answer is 304 without a body. */
                "If-None-Match"?: string;
            };
            path: {
                /** @description Id of the image, img_… */
                imageId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "image/gif": string;
                    "image/jpeg": string;
                    "image/png": string;
                    "image/webp": string;
                };
            };
        };
    };
    "limits.list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LimitList"];
                };
            };
        };
    };
    "sharedMemory.list": {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Rows of a page. 50 when absent. */
                limit?: number;
                /** @description Beginning of the keys, byte by byte. Absent: all keys. At most 512 bytes of UTF-8. */
                prefix?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryPage"];
                };
            };
        };
    };
    "sharedMemory.get": {
        parameters: {
            query?: {
                /** @description Key of the entry. Only a delete may leave it out: it means no entry then. At most 512 bytes of UTF-8. */
                key?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryEntryAnswer"];
                };
            };
        };
    };
    "sharedMemory.put": {
        parameters: {
            query?: {
                /** @description Key of the entry. Only a delete may leave it out: it means no entry then. At most 512 bytes of UTF-8. */
                key?: string;
            };
            header?: {
                /** @description An entry's ETag, quotes and all: it means `expectedVersion`. `*`, the default, is any; a list, or anything else but an ETag, is no version that an entry could have. */
                "If-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemoryInput"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryEntryAnswer"];
                };
            };
            /** @description Created, as it is now. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryEntryAnswer"];
                };
            };
            /** @description Parked for approval: poll the operation for its result. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
        };
    };
    "sharedMemory.delete": {
        parameters: {
            query?: {
                /** @description Delete only while the entry is at this version. At most 512 bytes of UTF-8. */
                expectedVersion?: string;
                /** @description Key of the entry. Only a delete may leave it out: it means no entry then. At most 512 bytes of UTF-8. */
                key?: string;
            };
            header?: {
                /** @description An entry's ETag, quotes and all: it means `expectedVersion`. `*`, the default, is any; a list, or anything else but an ETag, is no version that an entry could have. */
                "If-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
            /** @description Parked for approval: poll the operation for its result. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
        };
    };
    "sharedMemory.versions": {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Key of the entry. Only a delete may leave it out: it means no entry then. At most 512 bytes of UTF-8. */
                key?: string;
                /** @description Rows of a page. 100 when absent. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryVersionPage"];
                };
            };
        };
    };
    "sharedMemory.version": {
        parameters: {
            query?: {
                /** @description Key of the entry. Only a delete may leave it out: it means no entry then. At most 512 bytes of UTF-8. */
                key?: string;
            };
            header?: never;
            path: {
                /** @description A version of the entry. */
                versionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryVersionAnswer"];
                };
            };
        };
    };
    "sharedMemory.redact": {
        parameters: {
            query?: {
                /** @description Key of the entry. Only a delete may leave it out: it means no entry then. At most 512 bytes of UTF-8. */
                key?: string;
            };
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description A version of the entry. */
                versionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryVersionAnswer"];
                };
            };
        };
    };
    "sharedMemory.search": {
        parameters: {
            query: {
                /** @description Entries to find. 10 when absent. */
                limit?: number;
                /** @description Words, "quoted phrases", `or`, and `-` before what is not to be there. At most 512 bytes of UTF-8. */
                q: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryHits"];
                };
            };
        };
    };
    "models.list": {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Rows of a page. 50 when absent. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModelPage"];
                };
            };
        };
    };
    "nodes.list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeList"];
                };
            };
        };
    };
    "operations.list": {
        parameters: {
            query?: {
                /** @description Only operations of this action, such as `identity.disable`. */
                action?: string;
                /** @description Only operations about this agent, or asked for by it. */
                agentId?: string;
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Rows of a page. 100 when absent. */
                limit?: number;
                /** @description Only operations in this state. */
                state?: "pending" | "approved" | "completed" | "failed" | "denied" | "expired" | "cancelled";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationPage"];
                };
            };
        };
    };
    "operations.get": {
        parameters: {
            query?: {
                /** @description Seconds that the answer may wait for a state that nothing leaves. 0 when absent. */
                waitSeconds?: number;
            };
            header?: never;
            path: {
                /** @description Id of the operation. */
                operationId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
        };
    };
    "operations.approve": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the operation. */
                operationId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["OperationDecision"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
        };
    };
    "operations.cancel": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the operation. */
                operationId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
        };
    };
    "operations.deny": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the operation. */
                operationId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["OperationDecision"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
        };
    };
    "profiles.list": {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Whether archived profiles are listed as well. False when absent. */
                includeArchived?: "true" | "false";
                /** @description Rows of a page. 50 when absent. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProfilePage"];
                };
            };
        };
    };
    "profiles.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProfileInput"];
            };
        };
        responses: {
            /** @description Created, as it is now. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProfileWritten"];
                };
            };
        };
    };
    "profiles.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the profile.
                 * @example prof_0000000000000000000000dem0
                 */
                profileId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProfileAnswer"];
                };
            };
        };
    };
    "profiles.archive": {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that was read, quotes and all: the request holds only while it is still that, else it is 412. `*`, the default, is any. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the profile. */
                profileId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; there is nothing to say. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "profiles.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that was read, quotes and all: the request holds only while it is still that, else it is 412. `*`, the default, is any. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the profile. */
                profileId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ProfilePatch"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProfileWritten"];
                };
            };
        };
    };
    "profiles.versions": {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Rows of a page. 50 when absent. */
                limit?: number;
            };
            header?: never;
            path: {
                /**
                 * @description Id of the profile.
                 * @example prof_0000000000000000000000dem0
                 */
                profileId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProfileVersionPage"];
                };
            };
        };
    };
    "profiles.version": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /**
                 * @description Id of the profile.
                 * @example prof_0000000000000000000000dem0
                 */
                profileId: string;
                /**
                 * @description Which version: they are numbered from 1.
                 * @example 1
                 */
                version: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProfileAnswer"];
                };
            };
        };
    };
    "roles.list": {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Rows of a page. 50 when absent. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RolePage"];
                };
            };
        };
    };
    "roles.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RoleInput"];
            };
        };
        responses: {
            /** @description Created, as it is now. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RoleAnswer"];
                };
            };
        };
    };
    "roles.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the role. */
                roleId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RoleAnswer"];
                };
            };
        };
    };
    "roles.delete": {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that was read, quotes and all: the request holds only while it is still that, else it is 412. `*`, the default, is any. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the role. */
                roleId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; there is nothing to say. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "roles.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that was read, quotes and all: the request holds only while it is still that, else it is 412. `*`, the default, is any. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the role. */
                roleId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RolePatch"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RoleAnswer"];
                };
            };
        };
    };
    "roles.evaluate": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RoleQuestion"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RoleDecision"];
                };
            };
        };
    };
    "subscriptions.list": {
        parameters: {
            query?: {
                /** @description Only those of this agent. */
                agentId?: string;
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Only those to this feed. */
                feedId?: string;
                /** @description Rows of a page. 50 when absent. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubscriptionPage"];
                };
            };
        };
    };
    "subscriptions.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the subscription. */
                subscriptionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
            /** @description Parked for approval: poll the operation for its result. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
        };
    };
    "subscriptions.delete": {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that was read, quotes and all: the request holds only while it is still that, else it is 412. `*`, the default, is any. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the subscription. */
                subscriptionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Parked for approval: poll the operation for its result. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
            /** @description Done; there is nothing to say. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "subscriptions.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that was read, quotes and all: the request holds only while it is still that, else it is 412. `*`, the default, is any. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the subscription. */
                subscriptionId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SubscriptionPatch"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Subscription"];
                };
            };
            /** @description Parked for approval: poll the operation for its result. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
        };
    };
    "subscriptions.evaluate": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the subscription. */
                subscriptionId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EvaluateSample"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Evaluated"];
                };
            };
        };
    };
    "subscriptions.evaluations": {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Rows of a page. 100 when absent. */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Id of the subscription. */
                subscriptionId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EvaluationPage"];
                };
            };
        };
    };
    "threads.list": {
        parameters: {
            query?: {
                /** @description Only threads of this agent. */
                agentId?: string;
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Only threads that work for this identity. At most 512 bytes of UTF-8 without control characters, once surrounding whitespace is trimmed. */
                identity?: string;
                /** @description Also archived threads. False when absent. */
                includeArchived?: "true" | "false";
                /** @description Rows of a page. 50 when absent. */
                limit?: number;
                /** @description Only threads that wait on a person or a client. */
                state?: "waiting";
                /** @description Only threads of this status: of a page 5000 threads are looked at, so that it may hold fewer than `limit`, and go on nevertheless. Not beside `state`. */
                status?: "running" | "awaiting" | "idle" | "failed" | "cancelled";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ThreadPage"];
                };
            };
        };
    };
    "threads.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ThreadInput"];
            };
        };
        responses: {
            /** @description Created, as it is now. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ThreadCreated"];
                };
            };
        };
    };
    "threads.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the thread. */
                threadId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ThreadDetail"];
                };
            };
            /** @description Parked for approval: poll the operation for its result. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationHandle"];
                };
            };
        };
    };
    "threads.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the thread. */
                threadId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; there is nothing to say. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "threads.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that was read, quotes and all: the request holds only while it is still that, else it is 412. `*`, the default, is any. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the thread. */
                threadId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ThreadPatch"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ThreadDetail"];
                };
            };
        };
    };
    "threads.archive": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the thread. */
                threadId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ThreadDetail"];
                };
            };
        };
    };
    "threads.cancel": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the thread. */
                threadId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["Cancellation"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ThreadDetail"];
                };
            };
        };
    };
    "threads.compact": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the thread. */
                threadId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ThreadDetail"];
                };
            };
        };
    };
    "events.list": {
        parameters: {
            query?: {
                /** @description Seq behind which to begin: only events after it. 0 is the beginning. Not together with `cursor` or `order=desc`. */
                afterSeq?: number;
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Rows of a page. 100 when absent. */
                limit?: number;
                /** @description By seq, upwards or downwards. `asc` when absent. */
                order?: "asc" | "desc";
                /** @description Only events of this turn. */
                turnId?: string;
                /** @description Seconds that the answer may wait for an event after `afterSeq`, where there is none yet. 0 when absent. */
                waitSeconds?: number;
            };
            header?: never;
            path: {
                /** @description Id of the thread. */
                threadId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventPage"];
                };
            };
        };
    };
    "streams.thread": {
        parameters: {
            query?: {
                /** @description Seq behind which to begin: the log is replayed from there, without gaps. Absent: from what happens now on. */
                afterSeq?: number;
                /** @description With `text`, also the text of responses while models write it: frames `delta`, and `discard` where it comes to nothing. */
                deltas?: "text";
                /** @description Which frames to send: names with commas between them, such as `event,status`. There are `ready`, `event`, `delta`, `status`, `queue`, `wait`, `progress`, `operation`, `feed`, `step`, `discard`, `gap`, `bye`. `ready`, `gap` and `bye` come in any case. Absent: all, but `delta` and `discard` only with `deltas`, `progress` only in the stream of one thread, and `step` only where it is named: in the stream of one thread, and in the workspace's with `actorId`. */
                types?: string;
            };
            header?: {
                /** @description Id of the last frame that the client has seen, sent when it comes back. It goes before `afterSeq`. */
                "Last-Event-ID"?: number;
            };
            path: {
                /** @description Id of the thread. */
                threadId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The stream, until the client leaves or a frame `bye` ends it. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "ready";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "event";
                        /** @description Seq of the event: what `Last-Event-ID` says when a client comes back. */
                        id: string;
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "delta";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "status";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "queue";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "wait";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "progress";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "step";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "discard";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "gap";
                    } | {
                        /** @description Content of the frame, as JSON on one line. */
                        data: string;
                        /**
                         * @description Kind of the frame.
                         * @enum {string}
                         */
                        event: "bye";
                    };
                };
            };
        };
    };
    "messages.submit": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the thread. */
                threadId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MessageInput"];
            };
        };
        responses: {
            /** @description Created, as it is now. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubmittedMessage"];
                };
            };
        };
    };
    "queue.list": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the thread. */
                threadId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueuedMessage"][];
                };
            };
        };
    };
    "queue.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the input, as its submit was answered. */
                inputId: string;
                /** @description Id of the thread. */
                threadId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InputRecord"];
                };
            };
        };
    };
    "queue.remove": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the input, as its submit was answered. */
                inputId: string;
                /** @description Id of the thread. */
                threadId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; there is nothing to say. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "queue.edit": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the input, as its submit was answered. */
                inputId: string;
                /** @description Id of the thread. */
                threadId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MessageEdit"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueuedMessage"];
                };
            };
        };
    };
    "queue.promote": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the input, as its submit was answered. */
                inputId: string;
                /** @description Id of the thread. */
                threadId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Promotion"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubmittedMessage"];
                };
            };
        };
    };
    "threads.retry": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the thread. */
                threadId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created, as it is now. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SubmittedMessage"];
                };
            };
        };
    };
    "threads.turns": {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Rows of a page. 50 when absent. */
                limit?: number;
                /** @description Newest first unless `asc`. */
                order?: "asc" | "desc";
            };
            header?: never;
            path: {
                /** @description Id of the thread. */
                threadId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TurnPage"];
                };
            };
        };
    };
    "waits.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the thread. */
                threadId: string;
                /** @description Id of the wait. */
                waitId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WaitAnswer"];
                };
            };
        };
    };
    "waits.resolve": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the thread. */
                threadId: string;
                /** @description Id of the wait. */
                waitId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WaitResolution"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResolvedWait"];
                };
            };
        };
    };
    "tools.calls": {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Rows of a page. 50 when absent. */
                limit?: number;
                /** @description Only calls that wait for a result: there are no others, with or without it. */
                state?: "pending";
                /** @description Only calls of tools of this toolset. */
                toolsetId?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolCallPage"];
                };
            };
        };
    };
    "tools.result": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the call. */
                toolCallId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ToolCallResult"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResolvedWait"];
                };
            };
        };
    };
    "toolsets.list": {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Rows of a page. 50 when absent. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolsetPage"];
                };
            };
        };
    };
    "toolsets.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ToolsetInput"];
            };
        };
        responses: {
            /** @description Created, as it is now. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolsetAnswer"];
                };
            };
        };
    };
    "toolsets.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the toolset. */
                toolsetId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolsetAnswer"];
                };
            };
        };
    };
    "toolsets.delete": {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that was read, quotes and all: the request holds only while it is still that, else it is 412. `*`, the default, is any. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the toolset. */
                toolsetId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; there is nothing to say. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "toolsets.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that was read, quotes and all: the request holds only while it is still that, else it is 412. `*`, the default, is any. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the toolset. */
                toolsetId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ToolsetPatch"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolsetAnswer"];
                };
            };
        };
    };
    "toolsets.refresh": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the toolset. */
                toolsetId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolsetAnswer"];
                };
            };
        };
    };
    "toolsets.tools": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the toolset. */
                toolsetId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolList"];
                };
            };
        };
    };
    "usage.list": {
        parameters: {
            query?: {
                /** @description Only what this agent pays for. The answer has its budget then. */
                agentId?: string;
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description First day, as a date or a time, which stands for its day in UTC. When absent, 29 days before the last one. In the years 0 to 9999 of UTC. */
                from?: string | unknown | unknown;
                /** @description Groups of the sums: a list of `day`, `agent` and `model`, separated by commas. `day` when absent. */
                groupBy?: "day" | "day,agent" | "day,agent,model" | "day,model" | "day,model,agent" | "agent" | "agent,day" | "agent,day,model" | "agent,model" | "agent,model,day" | "model" | "model,day" | "model,day,agent" | "model,agent" | "model,agent,day";
                /** @description Rows of a page. 100 when absent. */
                limit?: number;
                /** @description Only this model, by its id. */
                model?: string;
                /** @description Last day, itself included: a date or a time. Today when absent. In the years 0 to 9999 of UTC. */
                to?: string | unknown | unknown;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsagePage"];
                };
            };
        };
    };
    "webhooks.list": {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Rows of a page. 50 when absent. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookPage"];
                };
            };
        };
    };
    "webhooks.create": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookInput"];
            };
        };
        responses: {
            /** @description Created, as it is now. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookSecretAnswer"];
                };
            };
        };
    };
    "webhooks.get": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the webhook. */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookAnswer"];
                };
            };
        };
    };
    "webhooks.delete": {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that was read, quotes and all: the request holds only while it is still that, else it is 412. `*`, the default, is any. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the webhook. */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; there is nothing to say. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    "webhooks.update": {
        parameters: {
            query?: never;
            header?: {
                /** @description An ETag that was read, quotes and all: the request holds only while it is still that, else it is 412. `*`, the default, is any. */
                "If-Match"?: string;
            };
            path: {
                /** @description Id of the webhook. */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["WebhookPatch"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookAnswer"];
                };
            };
        };
    };
    "webhooks.deliveries": {
        parameters: {
            query?: {
                /** @description The `nextCursor` of the page before, for the page after it. Filters come from it. */
                cursor?: string;
                /** @description Rows of a page. 100 when absent. */
                limit?: number;
                /** @description Only those in this state. */
                state?: components["schemas"]["WebhookDeliveryState"];
            };
            header?: never;
            path: {
                /** @description Id of the webhook. */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The resource, as it is now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryPage"];
                };
            };
        };
    };
    "webhooks.redeliver": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the delivery. */
                webhookDeliveryId: string;
                /** @description Id of the webhook. */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryAnswer"];
                };
            };
        };
    };
    "webhooks.resend": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the webhook. */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ResendInput"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ResentAnswer"];
                };
            };
        };
    };
    "webhooks.rotate": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the webhook. */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RotateWebhookInput"];
            };
        };
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookSecretAnswer"];
                };
            };
        };
    };
    "webhooks.test": {
        parameters: {
            query?: never;
            header?: {
                /** @description Sent again with the same body within 24 hours, the request takes effect once and gets the same answer. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the webhook. */
                webhookId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; this is how it stands now. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookDeliveryAnswer"];
                };
            };
        };
    };
}
