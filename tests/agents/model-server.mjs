#!/usr/bin/env node
// SPDX-License-Identifier: MIT
//
// A simulated model. It speaks as much of three real protocols as the agents need for one turn:
//
//	POST /v1/messages          Anthropic Messages           (claude)
//	POST /v1/responses         OpenAI Responses             (codex)
//	POST /v1/chat/completions  OpenAI chat completions      (opencode, pi, copilot)
//
// There is no model behind it but this script: asked for the first time, it calls one of the tools
// that the request offers so that FILE gets the text CONTENT; shown a tool result, it says that it
// is done. Every request carries its whole conversation, so no state is kept between requests.
//
// usage: model-server.mjs --file FILE --content CONTENT [--port PORT]
//
// Listens on 127.0.0.1 only. The first line on stdout is the port (of use with --port 0, the
// default); after that comes one line for each request, which says what was answered.

import http from 'node:http';
import net from 'node:net';
import { parseArgs } from 'node:util';

const DONE = 'The file is written.';

const { values: options } = parseArgs({
	options: {
		file: { type: 'string' },
		content: { type: 'string' },
		port: { type: 'string', default: '0' },
	},
});
if (!options.file || options.content === undefined) {
	console.error('usage: model-server.mjs --file FILE --content CONTENT [--port PORT]');
	process.exit(2);
}

// What agents call the tools that can write a file; the first one that is offered is called.
const TOOL_NAMES = [
	'Write', 'write', 'create', // the agent writes the file itself
	'Bash', 'bash', 'exec_command', 'shell_command', 'shell', // a shell does
];

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
const SHELL_LINE = `printf %s ${quoted(options.content)} > ${quoted(options.file)}`;

// What to say for each parameter that those tools are known to take.
const ARGUMENTS = {
	file_path: options.file,
	filePath: options.file,
	path: options.file,
	content: options.content,
	file_text: options.content,
	command: SHELL_LINE,
	cmd: SHELL_LINE,
	description: 'Write the file',
};

// The call that writes the file, or null where the request offers no tool that could (agents also
// ask for titles and summaries). tools: [{ name, schema }]
function call_for(tools) {
	const tool = TOOL_NAMES.map((name) => tools.find((t) => t.name === name)).find(Boolean);
	if (!tool)
		return null;
	const parameters = Object.entries(tool.schema?.properties ?? {});
	const known = parameters.filter(([name]) => name in ARGUMENTS).map(([name, { type }]) =>
		[name, type === 'array' ? ['sh', '-c', ARGUMENTS[name]] : ARGUMENTS[name]]);
	return { name: tool.name, input: Object.fromEntries(known) };
}

const anthropic = {
	tools: (request) => (request.tools ?? []).map((t) => ({ name: t.name, schema: t.input_schema })),

	tool_result(request) {
		const blocks = request.messages.flatMap((m) => Array.isArray(m.content) ? m.content : []);
		return blocks.findLast((b) => b.type === 'tool_result')?.content;
	},

	*events(request, call) {
		const block = call
			? { type: 'tool_use', id: 'toolu_1', name: call.name, input: {} }
			: { type: 'text', text: '' };
		const delta = call
			? { type: 'input_json_delta', partial_json: JSON.stringify(call.input) }
			: { type: 'text_delta', text: DONE };
		const usage = { input_tokens: 1, output_tokens: 1 };
		yield { type: 'message_start', message: {
			id: 'msg_1', type: 'message', role: 'assistant', model: request.model, content: [],
			stop_reason: null, stop_sequence: null, usage,
		} };
		yield { type: 'content_block_start', index: 0, content_block: block };
		yield { type: 'content_block_delta', index: 0, delta };
		yield { type: 'content_block_stop', index: 0 };
		yield {
			type: 'message_delta', usage,
			delta: { stop_reason: call ? 'tool_use' : 'end_turn', stop_sequence: null },
		};
		yield { type: 'message_stop' };
	},
};

const responses = {
	tools: (request) => (request.tools ?? []).map((t) => ({ name: t.name, schema: t.parameters })),

	tool_result(request) {
		const items = Array.isArray(request.input) ? request.input : [];
		return items.findLast((i) => i.type === 'function_call_output')?.output;
	},

	*events(request, call) {
		const item = call
			? {
				type: 'function_call', id: 'fc_1', call_id: 'call_1', status: 'completed',
				name: call.name, arguments: JSON.stringify(call.input),
			}
			: {
				type: 'message', id: 'msg_1', role: 'assistant', status: 'completed',
				content: [{ type: 'output_text', text: DONE, annotations: [] }],
			};
		const response = { id: 'resp_1', object: 'response', model: request.model };
		const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
		yield { type: 'response.created', response: { ...response, status: 'in_progress' } };
		yield { type: 'response.output_item.added', output_index: 0, item };
		yield { type: 'response.output_item.done', output_index: 0, item };
		yield {
			type: 'response.completed',
			response: { ...response, status: 'completed', output: [item], usage },
		};
	},
};

const chat = {
	tools: (request) => (request.tools ?? []).map(({ function: f }) =>
		({ name: f?.name, schema: f?.parameters })),

	tool_result: (request) => request.messages.findLast((m) => m.role === 'tool')?.content,

	*events(request, call) {
		const chunk = (delta, finish_reason) => ({
			id: 'chatcmpl_1', object: 'chat.completion.chunk', created: 0, model: request.model,
			choices: [{ index: 0, delta, finish_reason }],
			usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
		});
		yield chunk(call
			? { role: 'assistant', tool_calls: [{
				index: 0, id: 'call_1', type: 'function',
				function: { name: call.name, arguments: JSON.stringify(call.input) },
			}] }
			: { role: 'assistant', content: DONE }, null);
		yield chunk({}, call ? 'tool_calls' : 'stop');
	},
};

const PROTOCOLS = {
	'/v1/messages': anthropic,
	'/v1/responses': responses,
	'/v1/chat/completions': chat,
};

async function json_body(message) {
	const chunks = [];
	for await (const chunk of message)
		chunks.push(chunk);
	return JSON.parse(Buffer.concat(chunks).toString());
}

function send_events(reply, events, protocol) {
	reply.writeHead(200, { 'content-type': 'text/event-stream' });
	for (const event of events)
		reply.write((event.type ? `event: ${event.type}\n` : '') + `data: ${JSON.stringify(event)}\n\n`);
	reply.end(protocol === chat ? 'data: [DONE]\n\n' : '');
}

async function answer(message, reply) {
	const path = new URL(message.url, 'http://localhost').pathname;
	const protocol = message.method === 'POST' ? PROTOCOLS[path] : undefined;
	if (!protocol) {
		console.log(`${message.method} ${path}: not served`);
		reply.writeHead(404, { 'content-type': 'application/json' });
		reply.end('{"error":{"type":"not_found_error","message":"not served"}}');
		return;
	}
	const request = await json_body(message);
	const result = protocol.tool_result(request);
	const tools = protocol.tools(request);
	const call = result === undefined ? call_for(tools) : null;
	if (call)
		console.log(`${path}: tool call ${call.name}`);
	else if (result !== undefined)
		console.log(`${path}: tool result ${JSON.stringify(result).slice(0, 500)}`);
	else
		console.log(`${path}: no tool to write with among [${tools.map((t) => t.name)}]`);
	send_events(reply, protocol.events(request, call), protocol);
}

const server = http.createServer((message, reply) => {
	answer(message, reply).catch((error) => {
		console.log(`${message.method} ${message.url}: ${error.stack}`);
		reply.destroy();
	});
});

server.listen(Number(options.port), '127.0.0.1', () => {
	// In a new network namespace a listener can be made while nothing can connect to it. Say so
	// here: agents try again for minutes before they do.
	const { port } = server.address();
	const probe = net.connect(port, '127.0.0.1', () => {
		probe.end();
		console.log(port);
	});
	probe.on('error', (error) => {
		console.error(`model-server: cannot connect to 127.0.0.1 (is lo up?): ${error.message}`);
		process.exit(1);
	});
});
