// Shows the description of the API. Swagger UI is loaded before.
window.SwaggerUIBundle({
  url: "api/openapi.json",
  dom_id: "#reference",
  deepLinking: true,
  tryItOutEnabled: true,
  defaultModelsExpandDepth: 0,
  onComplete: () => { document.documentElement.dataset.ready = "true"; },
});
